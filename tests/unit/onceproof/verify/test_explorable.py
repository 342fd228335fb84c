"""Which pipelines can be explored, and why others cannot."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from onceproof.verify.draft import draft
from onceproof.verify.explorable import explorable
from onceproof.verify.options import BadTrial, InputOptions, VerifyOptions

COMMAND = ("job", "{bootstrap}", "{input}", "{output}", "{group}", "{client_id}")
OPTIONS = VerifyOptions(command=COMMAND, folder=Path("/"), outputs=("enriched",))


def test_program_with_names_of_its_own_is_explored_by_its_claims() -> None:
    scenario = draft(replace(OPTIONS, claims=("at-least-once", "at-most-once")))
    subject = explorable(scenario, "local")
    assert subject.claims == scenario.claims
    assert subject.pipeline.command == COMMAND
    assert not subject.alone


def test_placeholders_may_be_in_variables() -> None:
    options = replace(OPTIONS, command=COMMAND[:-1], variables=("CLIENT={client_id}",))
    assert not explorable(draft(options), "local").alone


def test_program_that_chooses_a_name_needs_a_stage_of_its_own() -> None:
    assert explorable(draft(replace(OPTIONS, command=COMMAND[:-1])), "local").alone


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"command": COMMAND[2:]}, r"needs {bootstrap} in the command or in --env"),
        ({"command": (*COMMAND, "{checkpoint}")}, "does not support a Spark checkpoint"),
        ({"outputs": ("one", "two")}, "does not support several outputs"),
        ({"outputs": ("postgres:ledger",)}, "does not support an output that is no topic"),
        ({"dead_letters": "letters"}, "does not support --dead-letters"),
        ({"instances": 2}, "does not support --instances"),
        ({"event_time": "json:$.at", "allowed_lateness": "5s"}, "does not support --event-time"),
        (
            {"others": (InputOptions(topic="payments", identity="json:$.payment_id"),),
             "command": (*COMMAND, "{input:payments}")},
            "does not support several inputs",
        ),
    ],
)  # fmt: skip
def test_other_programs_are_refused(options: dict[str, Any], why: str) -> None:
    with pytest.raises(BadTrial, match=f"--explore {why}"):
        explorable(draft(replace(OPTIONS, **options)), "local")


def test_other_backends_are_refused() -> None:
    with pytest.raises(BadTrial, match="a backend other than local"):
        explorable(draft(OPTIONS), "docker")
