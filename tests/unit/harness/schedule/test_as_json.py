"""Schedules converted to JSON and back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from onceproof.harness.faults.links.cut_link import CutLink
from onceproof.harness.faults.targets.brokers import LeaderOf, Node
from onceproof.harness.faults.until import Acknowledged
from onceproof.harness.schedule.as_json import BadSchedule, schedule_from_json, schedule_to_json
from onceproof.harness.schedule.scenario import ScheduledFault
from onceproof.scenarios import all_scenarios

CUT = ScheduledFault(
    name="a",
    do=CutLink(source="pipeline", target=LeaderOf(topic="payments", partition=2)),
    progress=0.5,
    until=Acknowledged(records=3),
    required=False,
    seconds=7.5,
)


@pytest.mark.parametrize("scenario", all_scenarios(), ids=lambda scenario: scenario.name)
def test_schedule_of_every_scenario_round_trips(scenario: Any) -> None:
    text = json.dumps(schedule_to_json(scenario.schedule))
    assert schedule_from_json(json.loads(text)) == scenario.schedule


def test_all_fields_round_trip() -> None:
    later = ScheduledFault(
        name="b", do=CutLink(source="producer", target=Node(name="broker-1")), after=("a",)
    )
    assert schedule_from_json(json.loads(json.dumps(schedule_to_json([CUT, later])))) == (
        CUT,
        later,
    )


def changed(**changes: Any) -> list[Any]:
    (line,) = schedule_to_json([CUT])
    return [line | changes]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["what"], "line 1: expected a scheduled fault, found 'what'"),
        ([{}], "line 1: this version of onceproof does not know None"),
        (changed(**{"is": "Melt"}), "line 1: this version of onceproof does not know 'Melt'"),
        ([{"is": "Node", "name": "x"}], "line 1: expected a scheduled fault"),
        (
            changed(progress=2),
            "line 1: ScheduledFault: «a»: progress=2: expected a number from 0 to 1",
        ),
        (changed(colour="red"), "line 1: ScheduledFault: .*unexpected keyword argument 'colour'"),
        (changed(do={"is": "CutLink"}), r"line 1\.do: CutLink: .*missing 2 required"),
        (
            changed(do={"is": "Kill", "target": {"is": "SparkDriver"}, "at": "x"}),
            "Kill: invalid window 'x'",
        ),
    ],
)
def test_malformed_schedule_is_refused(lines: list[Any], message: str) -> None:
    with pytest.raises(BadSchedule, match=message):
        schedule_from_json(lines)


def test_fault_that_is_not_plain_data_is_refused() -> None:
    with pytest.raises(TypeError, match="cannot be stored in a schedule"):
        schedule_to_json([ScheduledFault(name="a", do=object())])  # type: ignore[arg-type]
