"""Control scenarios that must not end in `holds`, whatever the pipeline does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.catalogue import LATER
from tests.end_to_end.command import Finished, onceproof

pytestmark = [pytest.mark.integration, pytest.mark.slow]


def record(run: Finished) -> dict[str, Any]:
    return json.loads((run.folder / "run.json").read_text())


SCENARIO_FILE = """
from dataclasses import replace
from onceproof.scenarios import all_scenarios

(_OURS,) = [s for s in all_scenarios() if s.name == "control-fault-without-effect"]
MINE = replace(_OURS, name="mine")
"""


@pytest.fixture(scope="module")
def no_effect(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """A run of a scenario from a user's file."""
    file = tmp_path_factory.mktemp("their checks") / "theirs.py"
    file.write_text(SCENARIO_FILE)
    return onceproof("run", f"{file}:MINE", "--seed", "1", "--out", runs)


def test_fault_without_effect_invalidates_the_claim(no_effect):
    (claim,) = no_effect.report["claims"]
    assert claim["verdict"] == "invalid"
    assert "unused link cut" in claim["reason"]
    assert no_effect.code == 0  # the scenario expects `invalid`


@LATER
def test_replay_repeats_run_and_verdicts(no_effect, runs):
    replayed = onceproof("replay", no_effect.folder, "--out", runs)
    assert replayed.folder != no_effect.folder
    assert (replayed.code, replayed.verdicts()) == (0, no_effect.verdicts())
    for field in ("scenario", "source", "seed", "schedule", "plan", "claims", "workload"):
        assert record(replayed)[field] == record(no_effect)[field]
    assert record(no_effect)["source"].endswith("/theirs.py:MINE")


def test_empty_history_is_invalid(runs):
    done = onceproof("run", "control-nothing-sent", "--seed", "1", "--out", runs)
    (claim,) = done.report["claims"]
    assert claim["verdict"] == "invalid"
    assert claim["reason"] == "Nothing was read from the log of payments."
    assert not [mutation for mutation in done.report["mutation_check"] if mutation["found"]]
