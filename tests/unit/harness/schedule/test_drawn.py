"""Drawn schedules: reproducible, varied, and storable as JSON."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onceproof.harness.faults.targets.brokers import LeaderOf
from onceproof.harness.faults.targets.spark_driver import SparkDriver
from onceproof.harness.schedule.as_json import schedule_from_json, schedule_to_json
from onceproof.harness.schedule.drawn import FAULTS, Draw
from onceproof.harness.schedule.scenario import BadScenario
from onceproof.scenarios.drawn import SCENARIOS

KINDS = (("driver", 1), ("process", 2), ("partition", 2), ("link", 3))
DRAW = Draw(kinds=KINDS, partitions=3)
seeds = st.integers(min_value=0, max_value=1 << 32)


@given(seeds)
def test_schedule_is_reproducible_and_round_trips(seed: int) -> None:
    drawn = DRAW.schedule(seed)
    assert drawn == DRAW.schedule(seed)
    assert schedule_from_json(json.loads(json.dumps(schedule_to_json(drawn)))) == drawn


@given(seeds)
def test_schedule_has_the_wanted_kinds_in_a_valid_order(seed: int) -> None:
    drawn = DRAW.schedule(seed)
    assert Counter(at.one_of for at in drawn) == dict(KINDS)
    assert not any(at.required for at in drawn)
    seen: set[str] = set()
    for at in drawn:
        assert set(at.after) <= seen
        assert at.after or at.progress == DRAW.progress
        seen.add(at.name)
        target = getattr(at.do, "target", LeaderOf(partition=0))
        assert isinstance(target, LeaderOf | SparkDriver)
        assert isinstance(target, SparkDriver) or target.partition in range(3)


def test_seeds_differ_and_cover_every_fault() -> None:
    drawn = [DRAW.schedule(seed) for seed in range(200)]
    assert len(set(drawn)) == 200
    assert {schedule[0].one_of for schedule in drawn} == {kind for kind, _ in KINDS}
    for kind, makings in FAULTS.items():
        met = {type(at.do) for schedule in drawn for at in schedule if at.one_of == kind}
        assert len(met) == len(makings)
    later_links = [at for schedule in drawn for at in schedule if at.one_of == "link" and at.after]
    assert {len(at.after) for at in later_links} == {1}
    parallel = [
        second
        for schedule in drawn
        for first, second in itertools.pairwise(schedule)
        if first.after == second.after
    ]
    assert parallel
    assert {at.one_of for at in parallel} == {"link"}


@pytest.mark.parametrize("kinds", [(("weather", 1),), (("link", 0),)])
def test_invalid_kinds_are_refused(kinds: tuple[tuple[str, int], ...]) -> None:
    with pytest.raises(
        ValueError, match="expected a number ≥ 1 and one of driver, process, partition"
    ):
        Draw(kinds=kinds, partitions=3)


def test_scenario_draws_its_schedule_from_the_seed() -> None:
    whole = SCENARIOS[0]
    drawn = whole.drawn(7)
    assert whole.draw is not None
    assert drawn.schedule == whole.draw.schedule(7)
    assert drawn.draw is None
    assert drawn.drawn(8) is drawn, "what is drawn is drawn"
    with pytest.raises(BadScenario, match="expected either schedule or draw"):
        replace(whole, schedule=drawn.schedule)
