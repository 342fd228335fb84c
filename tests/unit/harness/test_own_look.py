"""How far a pipeline of somebody's own is, by its groups and by what came out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from harness.identity import RECORD_HEADER
from harness.own import look as module
from harness.own.look import LONG, QUIET, Look
from harness.own.outputs.base import UnreadableOutput
from harness.own.together import Together
from harness.subjects.pipeline import PipelineTrouble

INPUTS = tuple("abcde")
AT = ("orders", 0)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(module, "time", made)
    return made


def holds(effects: Iterable[str | None]) -> Any:
    """An output with effects of these inputs."""
    there = [SimpleNamespace(record=record, position="row") for record in effects]
    return SimpleNamespace(name="out", size=lambda: 1, effects=lambda: there)


def look(
    clock: Clock,
    *,
    effects: Iterable[str | None],
    other: Iterable[str | None] | None = None,
    letters: Iterable[str | None] | None = None,
    group: Mapping[tuple[str, int], int] | None = None,
    still_for: float = QUIET,
    optional: bool = False,
) -> Look:
    """A look at a pipeline whose outputs, one or two, have stood still for some seconds."""
    entries = [
        SimpleNamespace(offset=n, key=b"k", kind="data", headers={RECORD_HEADER: record.encode()})
        for n, record in enumerate(INPUTS)
    ]
    log = SimpleNamespace(
        topic="orders", partition=0, entries=entries, committed=lambda: [True] * len(entries)
    )
    reader: Any = SimpleNamespace(read_topic=lambda topic: [log])
    sinks = [holds(effects)] if other is None else [holds(effects), holds(other)]
    sink = Together(sinks, None if letters is None else holds(letters))
    groups: Any = SimpleNamespace(newest=lambda: dict(group or {}))
    made = Look(
        topic="orders", groups=groups, reader=lambda: nullcontext(reader),
        sink=lambda reader: sink, sent=frozenset(INPUTS), optional=optional,
    )  # fmt: skip
    made.size()
    clock.now += still_for
    return made


def test_without_a_group_the_last_input_with_an_effect_says_it(clock: Clock) -> None:
    assert look(clock, effects="e").positions() == {AT: 5}
    assert look(clock, effects="abcd").positions() is None
    assert look(clock, effects="e", still_for=QUIET - 1).positions() is None


def test_a_group_that_is_behind_may_be_right(clock: Clock) -> None:
    waits = look(clock, effects="abde", group={AT: 2})
    assert waits.positions() == {AT: 2}, "c may wait for its turn"
    clock.now += LONG
    assert waits.positions() == {AT: 5}, "it does not come any more"


@pytest.mark.parametrize("position", [0, 3, 4])
def test_a_group_that_commits_too_seldom_is_not_waited_for(clock: Clock, position: int) -> None:
    done = look(clock, effects=["a", *INPUTS[max(1, position) :]], group={AT: position})
    assert done.positions() == {AT: 5}


def test_what_was_left_out_before_the_groups_position_is_done(clock: Clock) -> None:
    assert look(clock, effects="ade", group={AT: 3}).positions() == {AT: 5}


def test_where_an_input_may_have_no_effect_nobody_can_tell(clock: Clock) -> None:
    filters = look(clock, effects="ab", group={AT: 2}, optional=True)
    assert filters.positions() == {AT: 2}
    clock.now += LONG
    assert filters.positions() == {AT: 5}
    assert look(clock, effects="ab", optional=True).positions() == {AT: 5}


def test_an_output_that_has_less_than_another_may_be_behind(clock: Clock) -> None:
    for group in ({AT: 2}, None):
        behind = look(clock, effects=INPUTS, other="ab", group=group)
        assert behind.positions() == group, "the other may go on"
        assert behind.done() == (2, 5)
        clock.now += LONG
        assert behind.positions() == {AT: 5}, "it does not"
    both = look(clock, effects="abcde", other="abde", group={AT: 4})
    assert both.positions() == {AT: 5}
    assert both.done() == (4, 5)


def test_a_dead_letter_stands_for_every_output(clock: Clock) -> None:
    done = look(clock, effects="abcd", other="abcd", letters="e", group={AT: 2})
    assert done.positions() == {AT: 5}
    assert done.done() == (5, 5)


def test_one_of_the_last_few_must_be_in_every_output(clock: Clock) -> None:
    assert look(clock, effects="ab", other="c", optional=True).positions() == {AT: 5}
    half = look(clock, effects="ab", other="", optional=True)
    assert half.positions() is None
    clock.now += LONG
    assert half.positions() == {AT: 5}


def test_a_look_that_failed_is_taken_again(clock: Clock) -> None:
    done = look(clock, effects="abcde")
    opened, looks = done.sink, iter([True, True, False])

    def flaky(reader: Any) -> Any:
        found = opened(reader)
        if next(looks, True):
            return found
        return SimpleNamespace(size=found.size, named=away)

    def away() -> Any:
        raise UnreadableOutput("its leader moves")

    done.sink = flaky
    done.size()
    assert done.positions() is None
    assert done.positions() == {AT: 5}


@pytest.mark.parametrize("effects", [["a"], ["of another run"], [None]])
def test_outputs_are_empty_before_the_first_start(clock: Clock, effects: list[str | None]) -> None:
    with pytest.raises(PipelineTrouble, match="hold 1 effects before it was ever started"):
        look(clock, effects=effects).check_empty()


def test_what_is_empty_or_not_made_yet_may_be_started(clock: Clock) -> None:
    look(clock, effects=[]).check_empty()
    missing = look(clock, effects=[])

    def away(reader: object) -> Any:
        raise UnreadableOutput("no such program")

    missing.sink = away
    missing.check_empty()
