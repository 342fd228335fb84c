"""Which inputs may be dropped as late, against every order in which they can have been read."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from onceproof.harness.history.identity import ATTEMPT_HEADER, ODD_HEADER, RECORD_HEADER
from onceproof.harness.user_pipeline.event_time import EventTime
from onceproof.harness.user_pipeline.lateness import LATE, UNCLEAR, TimedInput, lateness, timed
from tests.unit.fakes import logs

ALLOWED = 3


def timed_input(
    partition: int, offset: int, at: int | None, when: int = 0, *, served: bool = True
) -> TimedInput:
    """An input that was sent and written at one moment."""
    return TimedInput(place=(partition, offset), at=at, called=when, returned=when, served=served)


def test_an_input_is_late_behind_a_greater_event_time_of_its_partition() -> None:
    times = [10, 12, 9, 10, 13]
    inputs = [timed_input(0, n, at, n) for n, at in enumerate(times)]
    assert lateness(inputs, ALLOWED) == {(0, 2): LATE}, "at the very limit it may be dropped"
    assert lateness(inputs, ALLOWED + 1) == {}


def test_it_is_late_behind_one_that_was_written_before_it_elsewhere() -> None:
    ahead = timed_input(1, 0, 20, when=5)
    assert lateness([timed_input(0, 0, 10, when=6), ahead], ALLOWED) == {(0, 0): LATE}
    assert lateness([timed_input(0, 0, 10, when=5), ahead], ALLOWED) == {(0, 0): LATE}
    assert lateness([timed_input(0, 0, 10, when=4), ahead], ALLOWED) == {}


def test_what_may_have_been_written_before_it_counts_as_if_it_was() -> None:
    unknown = TimedInput(place=(0, 0), at=10, served=True)
    assert lateness([unknown, timed_input(1, 0, 20, when=9)], ALLOWED) == {(0, 0): LATE}


def test_without_an_event_time_it_may_be_dropped() -> None:
    inputs = [timed_input(0, 0, 10), timed_input(0, 1, None), timed_input(0, 2, 9)]
    assert lateness(inputs, ALLOWED) == {(0, 1): LATE}


def test_one_in_time_is_lost_if_a_later_input_with_no_later_event_time_was_not_dropped() -> None:
    lost = timed_input(0, 0, 10, served=False)
    assert lateness([lost], ALLOWED) == {(0, 0): UNCLEAR}
    assert lateness([lost, timed_input(0, 1, 11)], ALLOWED) == {(0, 0): UNCLEAR}
    assert lateness([lost, timed_input(0, 1, 10)], ALLOWED) == {}
    assert lateness([lost, timed_input(1, 1, 10)], ALLOWED) == {(0, 0): UNCLEAR}
    assert lateness([lost, timed_input(0, 1, 10, served=False)], ALLOWED)[0, 0] == UNCLEAR
    assert lateness([timed_input(0, 0, 10), lost], ALLOWED) == {(0, 0): UNCLEAR}


@st.composite
def runs(draw: st.DrawFn) -> tuple[list[tuple[int, int]], list[int]]:
    """Partition and event time of each input as written, and the order in which they are read."""
    written = draw(
        st.lists(st.tuples(st.integers(0, 2), st.integers(0, 12)), min_size=1, max_size=14)
    )
    order, left = [], {n: [i for i, (p, _) in enumerate(written) if p == n] for n in range(3)}
    while any(left.values()):
        partition = draw(st.sampled_from([n for n, rest in left.items() if rest]))
        order.append(left[partition].pop(0))
    return written, order


def dropped(written: Sequence[tuple[int, int]], order: Sequence[int], each: bool) -> frozenset[int]:
    """What a right pipeline drops: with a watermark for each partition, or one for all."""
    greatest: dict[int, int] = {}
    found = set()
    for n in order:
        partition, at = written[n]
        clock = partition if each else 0
        if clock in greatest and at <= greatest[clock] - ALLOWED:
            found.add(n)
        greatest[clock] = max(greatest.get(clock, at), at)
    return frozenset(found)


def judged(written: Sequence[tuple[int, int]], gone: frozenset[int]) -> dict[int, str]:
    """Number of an input → what it is found to be."""
    offsets = {0: 0, 1: 0, 2: 0}
    inputs, numbers = [], {}
    for n, (partition, at) in enumerate(written):
        place = (partition, offsets[partition])
        offsets[partition] += 1
        numbers[place] = n
        inputs.append(timed_input(*place, at, n, served=n not in gone))
    return {numbers[place]: what for place, what in lateness(inputs, ALLOWED).items()}


@given(runs(), st.booleans())
def test_nothing_that_a_right_pipeline_drops_is_a_loss(
    run: tuple[list[tuple[int, int]], list[int]], each: bool
) -> None:
    written, order = run
    gone = dropped(written, order, each)
    assert gone <= judged(written, gone).keys()


@given(runs(), st.data())
def test_what_is_read_as_it_was_written_is_in_time_unless_it_is_late(
    run: tuple[list[tuple[int, int]], list[int]], data: st.DataObject
) -> None:
    written, _ = run
    late = dropped(written, range(len(written)), each=False)
    lost = data.draw(st.frozensets(st.sampled_from(range(len(written)))))
    found = judged(written, late | lost)
    assert {n for n, what in found.items() if what == LATE} == late
    for n in range(len(written)):
        behind = [
            at
            for i, (partition, at) in enumerate(written)
            if i > n and partition == written[n][0] and i not in late | lost
        ]
        if n in lost - late:
            assert (n in found) == (not any(at <= written[n][1] for at in behind))
        elif n not in late:
            assert n not in found


def test_inputs_are_taken_from_the_log() -> None:
    times = EventTime.parse("json:$.at", "s", "3s")
    headers = [{RECORD_HEADER: b"a", ATTEMPT_HEADER: b"s/1"}, {RECORD_HEADER: b"b"}]
    entries = [
        logs.entry(n, transactional=False, value=b'{"at": %d}' % (n + 7), headers=each)
        for n, each in enumerate(headers)
    ]
    beside = logs.entry(
        2, transactional=False, value=b'{"at": 99}', headers={ODD_HEADER: b"", RECORD_HEADER: b"c"}
    )
    sends = [{"attempt": "s/1", "called_at": 3, "returned_at": 4, "outcome": "ok"}]
    found = timed(
        [logs.log(*entries, beside)], times=times, served=[{"a", "b"}, {"a"}], sends=sends
    )
    assert found == [
        TimedInput(place=(0, 0), at=7_000_000, called=3, returned=4, served=True),
        TimedInput(place=(0, 1), at=8_000_000, served=False),
    ]
    (lasting, _) = timed(
        [logs.log(*entries)], times=times, served=[], sends=[{**sends[0], "outcome": "info"}]
    )
    assert (lasting.called, lasting.returned) == (3, float("inf"))
