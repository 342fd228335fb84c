"""The versions in a run's record: the stage says its own, also where it has other ones."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from onceproof.harness.run.arrange import RunAssembly
from onceproof.harness.tools.runtimes.chosen import Chosen
from onceproof.harness.tools.runtimes.usual import usual
from onceproof.harness.workload.senders.base import Sender
from onceproof.harness.workload.senders.franz_go import FRANZ_GO
from onceproof.harness.workload.senders.librdkafka import LIBRDKAFKA


def run_of(sender: Sender, *, sends: bool) -> Any:
    return SimpleNamespace(
        _scenario=SimpleNamespace(
            runtimes=frozenset({"kafka", "librdkafka", "postgresql"}),
            sender=sender,
            subject=SimpleNamespace(sends=sends),
        ),
        _tools=SimpleNamespace(chosen=Chosen(), versions=lambda: {"java": "17"}),
        _stage=SimpleNamespace(versions=lambda: {"image of postgres": "postgres:17"}),
    )


def test_stage_says_which_database_and_brokers_ran() -> None:
    run = run_of(LIBRDKAFKA, sends=True)
    found = RunAssembly._versions(cast("RunAssembly", run))
    assert found["image of postgres"] == "postgres:17"
    assert found["librdkafka"] == usual("librdkafka")
    assert not {"kafka", "postgresql"} & set(found)


def test_client_in_go_says_its_version_if_it_is_on_trial() -> None:
    for sends in (True, False):
        found = RunAssembly._versions(cast("RunAssembly", run_of(FRANZ_GO, sends=sends)))
        assert ("franz-go" in found) is sends
