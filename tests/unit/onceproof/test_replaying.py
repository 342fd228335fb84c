"""`onceproof replay`: what it reads from a run folder, and when it refuses."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from onceproof.catalogue import chosen
from onceproof.harness.history.run_record import UnreadableRun
from onceproof.harness.schedule.as_json import schedule_to_json
from onceproof.harness.schedule.scenario import Scenario
from onceproof.replaying import NoReplay, replay_of
from tests.unit.harness.history.test_run_record import RECORD


@pytest.fixture
def scenario() -> Scenario:
    (found,) = chosen(["control-fault-without-effect"])
    return found


def write_run(folder: Path, scenario: Scenario, /, **changes: Any) -> Path:
    """Write a run folder of a scenario, with changes to its record."""
    fields = {
        "scenario": scenario.name,
        "subject": scenario.subject.name,
        "workload": asdict(scenario.workload),
        "plan": schedule_to_json(scenario.schedule),
    }
    RECORD.model_copy(update=fields | changes).save(folder)
    return folder


def test_replay_reads_scenario_seed_and_backend(tmp_path: Path, scenario: Scenario) -> None:
    found = replay_of(write_run(tmp_path, scenario, configuration={"backend": "docker"}))
    assert found.scenario == scenario
    assert (found.seed, found.backend) == (7, "docker")


def test_recorded_schedule_is_replayed(tmp_path: Path, scenario: Scenario) -> None:
    recorded = tuple(replace(at, seconds=1.5) for at in scenario.schedule)
    found = replay_of(write_run(tmp_path, scenario, plan=schedule_to_json(recorded)))
    assert found.scenario == replace(scenario, schedule=recorded) != scenario


def test_recorded_transaction_version_is_replayed(tmp_path: Path, scenario: Scenario) -> None:
    features = {"features": {"transaction.version": 1}}
    found = replay_of(write_run(tmp_path, scenario, configuration=features))
    assert found.scenario.transaction_version == 1
    with pytest.raises(NoReplay, match="transaction_version=7: expected 0, 1, 2"):
        replay_of(
            write_run(tmp_path, scenario, configuration={"features": {"transaction.version": 7}})
        )


def test_backend_can_be_overridden(tmp_path: Path, scenario: Scenario) -> None:
    folder = write_run(tmp_path, scenario, configuration={"backend": "external"})
    with pytest.raises(NoReplay, match="your own cluster: give it with --backend external:FILE"):
        replay_of(folder)
    assert replay_of(folder, "external:mine.toml").backend == "external:mine.toml"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"plan": None}, "has no recorded schedule"),
        ({"plan": [{"is": "Melt"}]}, "line 1: this version of onceproof does not know 'Melt'"),
        ({"plan": [{"is": "At"}]}, "line 1: At: .*missing"),
        ({"scenario": "gone"}, "there is no scenario «gone»"),
        (
            {"scenario": "verify", "repeat": "onceproof verify -- x"},
            "repeat it: onceproof verify -- x",
        ),
        ({"subject": "other"}, "the subject of scenario .* has changed: then other, now spark-"),
        ({"workload": {"records": 1}}, "the workload of scenario .* has changed"),
    ],
)
def test_impossible_replay_is_refused(
    tmp_path: Path, scenario: Scenario, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(NoReplay, match=message):
        replay_of(write_run(tmp_path, scenario, **changes))


def test_folder_without_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableRun, match="is not a run folder"):
        replay_of(tmp_path)
