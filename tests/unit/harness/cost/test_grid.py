"""The settings that are measured."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from onceproof.harness.cost import own, queues
from onceproof.harness.cost.grid import INTERVALS, RECORDS, SIZES, TARGETS, comparisons
from onceproof.harness.cost.producers import (
    ACKS_1,
    CLIENTS,
    IDEMPOTENT,
    IN_ORDER,
    LATE,
    TRANSACTIONAL,
)
from onceproof.harness.cost.stamp import read_stamp, stamp
from onceproof.harness.cost.ways import NAP, USUAL, Setup, Way, Where
from onceproof.harness.user_pipeline.identity import BadRule
from onceproof.harness.wait import Stop

USUAL_SETUP = Setup(commit_every=INTERVALS)


def command_of(way: Way, work: Path) -> list[str]:
    """The command that would be started."""
    seen: list[str] = []

    def start(name: str, command: Sequence[str | Path], *, pipes: bool = False) -> None:
        seen.extend(map(str, command))

    nothing = cast("Any", SimpleNamespace(start=start))
    way.start(
        Where(
            tools=nothing,
            bootstrap="b1:1",
            work=work,
            processes=nothing,
            address="127.0.0.1",
            stop=Stop(),
        ),
        way.key,
    )
    return seen


def task(way: Way) -> dict[str, Any]:
    """The task in the command of a Python way."""
    found: dict[str, Any] = json.loads(command_of(way, Path("work"))[-1])
    return found


@pytest.mark.parametrize("target", TARGETS)
def test_names_and_topics_are_distinct(target: str) -> None:
    found = [way for each in comparisons(target, USUAL_SETUP, full=True) for way in each.ways]
    topics = [way.topic for way in found] + [way.source for way in found]
    assert len(set(topics)) == len(topics)


@pytest.mark.parametrize("target", TARGETS)
def test_every_pair_has_ways_with_the_same_phases(target: str) -> None:
    for each in comparisons(target, USUAL_SETUP, full=True):
        for base, other in each.pairs:
            bases = {phase.share for phase in each.way(base).phases if not phase.delay}
            assert bases in ({None}, {phase.share for phase in USUAL})
            assert bases <= {phase.share for phase in each.way(other).phases}
        assert None in {phase.share for phase in each.way(each.again).phases}
        assert each.delayed.share in {phase.share for phase in USUAL}
        if each.twin is not None:
            way, late = each.twin
            assert each.way(late).nap == NAP
            assert each.way(late).phases[-1] in each.way(way).phases


def test_default_has_one_comparison_and_the_grid_more_ways_in_its_first() -> None:
    (found,) = comparisons("java", USUAL_SETUP, full=False)
    assert {way.interval for way in found.ways} == {0.0, *INTERVALS}
    whole, brief, *_ = comparisons("java", USUAL_SETUP, full=True)
    assert {way.name for way in whole.ways} - {way.name for way in found.ways} == {IN_ORDER, ACKS_1}
    assert IDEMPOTENT not in {way.name for way in brief.ways}


def test_grid_changes_one_setting_at_a_time() -> None:
    first, alone, *others = comparisons("librdkafka", USUAL_SETUP, full=True)
    assert first.setup == USUAL_SETUP
    assert alone.setup.commit_every == INTERVALS[:1]
    for each in others:
        usual = USUAL_SETUP.__dict__ | {"commit_every": INTERVALS[:1]}
        changed = {name for name, value in each.setup.__dict__.items() if usual[name] != value}
        assert len(changed) == 1, each.name
    assert {each.setup.commit_records for each in others} == {0, *RECORDS}
    assert others[-1].setup.transaction_version == 1


def test_grid_changes_nothing_that_a_pipeline_does_not_use() -> None:
    names = {each.name for each in comparisons("spark", USUAL_SETUP, full=True)}
    assert not any(word in name for name in names for word in ("size", "linger"))
    sizes = {each.setup.size for each in comparisons("flink", USUAL_SETUP, full=True)}
    assert len(sizes) == 1


def test_pipelines_have_no_transactions_of_so_many_records() -> None:
    for target in set(TARGETS) - set(CLIENTS):
        assert not any(c.setup.commit_records for c in comparisons(target, Setup(), full=True))


def test_queue_broker_has_every_queue_of_jms_and_nothing_else_needs_one() -> None:
    nothing = cast("Any", None)
    for target in set(TARGETS) - {queues.NAME}:
        assert queues.queues_of(comparisons(target, Setup(), full=True), nothing) is None
    found = list(comparisons(queues.NAME, Setup(), full=True))
    assert {each.setup.size for each in found} == set(SIZES)
    wanted = queues.queues_of(found, nothing)
    assert wanted is not None
    ways = [way for each in found for way in each.ways]
    assert set(wanted.plain) == {way.topic for way in ways} | {way.source for way in ways}


def test_task_says_when_to_commit() -> None:
    (by_time,) = comparisons("librdkafka", Setup(), full=False)
    (by_count,) = comparisons("librdkafka", Setup(commit_records=7), full=False)
    for name in (TRANSACTIONAL, LATE):
        told = task(by_time.way(name))
        assert (told["commit_every"], told["commit_records"]) == (0.1, None)
        assert "transactional.id" in told["client"]
        told = task(by_count.way(name))
        assert (told["commit_every"], told["commit_records"]) == (None, 7)
    told = task(by_time.way(by_time.base))
    assert (told["commit_every"], told["commit_records"]) == (None, None)
    assert "transactional.id" not in told["client"]


def test_own_commands_get_topics_of_their_own(tmp_path: Path) -> None:
    command = "app --in {input} --out {output} {bootstrap} {group} '{work}'"
    found = own.comparison_of(command, f"{command} --eos", own.ORDER, Setup(commit_every=()))
    commands = {way.name: command_of(way, tmp_path) for way in found.ways}
    assert commands["base"] == [
        "app", "--in", "cost-own-base-source", "--out", "cost-own-base", "b1:1", "own-base",
        str(tmp_path / "own-base"),
    ]  # fmt: skip
    assert commands["other"][-1] == "--eos"
    assert len({tuple(words[:5]) for words in commands.values()}) == 3
    for way in found.ways:
        assert way.fed is not None
        before, after = way.fed.around or ("", "")
        assert json.loads(f"{before}cost-1-2-3-{after}")["order_id"] == "cost-1-2-3-"


@pytest.mark.parametrize(
    ("base", "value", "said"),
    [
        ("app {input} {output}", "{id}", "has no {bootstrap}"),
        ("app orders", "{id}", "has no {bootstrap}, {input}, {output}"),
        ("app {bootstrap} {input} {output} {topic}", "{id}", "unknown placeholder {topic}"),
        ("app {bootstrap} {input} {output}", "order", "has no {id}"),
    ],
)
def test_own_commands_that_cannot_be_measured_are_refused(base: str, value: str, said: str) -> None:
    with pytest.raises(BadRule, match=re.escape(said)):
        own.comparison_of(base, "app {bootstrap} {input} {output}", value, Setup())


def test_acks_are_those_of_the_plain_producer() -> None:
    (found,) = comparisons("librdkafka", Setup(acks="1"), full=False)
    acks = {way.name: task(way)["client"]["acks"] for way in found.ways}
    assert acks.pop("plain") == acks.pop("plain-again") == "1"
    assert set(acks.values()) == {"all"}


def test_stamp_is_found_within_a_record() -> None:
    text = b'{"id": "' + stamp(123_456, 7, 3) + b'", "amount": 5}'
    assert read_stamp(text) == (123_456, 7, 3)
    assert read_stamp(stamp(1, 2, 3).ljust(100, b"x")) == (1, 2, 3)
    assert read_stamp(b"no stamp") is None
