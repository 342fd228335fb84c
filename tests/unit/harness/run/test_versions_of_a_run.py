"""The versions in a run's record: the stage says its own, also where it has other ones."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from onceproof.harness.run.arrange import RunAssembly
from onceproof.harness.tools.runtimes.chosen import Chosen
from onceproof.harness.tools.runtimes.usual import usual


def test_stage_says_which_database_and_brokers_ran() -> None:
    run: Any = SimpleNamespace(
        _scenario=SimpleNamespace(runtimes=frozenset({"kafka", "librdkafka", "postgresql"})),
        _tools=SimpleNamespace(chosen=Chosen(), versions=lambda: {"java": "17"}),
        _stage=SimpleNamespace(versions=lambda: {"image of postgres": "postgres:17"}),
    )
    found = RunAssembly._versions(cast("RunAssembly", run))
    assert found["image of postgres"] == "postgres:17"
    assert found["librdkafka"] == usual("librdkafka")
    assert not {"kafka", "postgresql"} & set(found)
