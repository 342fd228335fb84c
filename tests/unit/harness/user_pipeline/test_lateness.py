"""Inputs that may be dropped as late, checked against every possible read order."""

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
    """An input that was sent and acknowledged at `when`."""
    return TimedInput(place=(partition, offset), at=at, called=when, returned=when, served=served)


def test_input_is_late_after_a_greater_event_time_in_its_partition() -> None:
    times = [10, 12, 9, 10, 13]
    inputs = [timed_input(0, n, at, n) for n, at in enumerate(times)]
    assert lateness(inputs, ALLOWED) == {(0, 2): LATE}, "at the very limit it may be dropped"
    assert lateness(inputs, ALLOWED + 1) == {}


def test_input_is_late_after_an_earlier_write_to_another_partition() -> None:
    ahead = timed_input(1, 0, 20, when=5)
    assert lateness([timed_input(0, 0, 10, when=6), ahead], ALLOWED) == {(0, 0): LATE}
    assert lateness([timed_input(0, 0, 10, when=5), ahead], ALLOWED) == {(0, 0): LATE}
    assert lateness([timed_input(0, 0, 10, when=4), ahead], ALLOWED) == {}


def test_input_with_unknown_send_time_may_be_late() -> None:
    unknown = TimedInput(place=(0, 0), at=10, served=True)
    assert lateness([unknown, timed_input(1, 0, 20, when=9)], ALLOWED) == {(0, 0): LATE}


def test_input_without_event_time_is_late() -> None:
    inputs = [timed_input(0, 0, 10), timed_input(0, 1, None), timed_input(0, 2, 9)]
    assert lateness(inputs, ALLOWED) == {(0, 1): LATE}


def test_missing_input_is_unclear_unless_a_later_input_proves_it_lost() -> None:
    lost = timed_input(0, 0, 10, served=False)
    assert lateness([lost], ALLOWED) == {(0, 0): UNCLEAR}
    assert lateness([lost, timed_input(0, 1, 11)], ALLOWED) == {(0, 0): UNCLEAR}
    assert lateness([lost, timed_input(0, 1, 10)], ALLOWED) == {}
    assert lateness([lost, timed_input(1, 1, 10)], ALLOWED) == {(0, 0): UNCLEAR}
    assert lateness([lost, timed_input(0, 1, 10, served=False)], ALLOWED)[0, 0] == UNCLEAR
    assert lateness([timed_input(0, 0, 10), lost], ALLOWED) == {(0, 0): UNCLEAR}


@st.composite
def runs(draw: st.DrawFn) -> tuple[list[tuple[int, int]], list[int]]:
    """Inputs as (partition, event time) in write order, and their read order."""
    written = draw(
        st.lists(st.tuples(st.integers(0, 2), st.integers(0, 12)), min_size=1, max_size=14)
    )
    order, left = [], {n: [i for i, (p, _) in enumerate(written) if p == n] for n in range(3)}
    while any(left.values()):
        partition = draw(st.sampled_from([n for n, rest in left.items() if rest]))
        order.append(left[partition].pop(0))
    return written, order


def dropped(
    written: Sequence[tuple[int, int]], order: Sequence[int], per_partition: bool
) -> frozenset[int]:
    """Inputs that a correct pipeline drops, with a watermark per partition or one for all."""
    greatest: dict[int, int] = {}
    found = set()
    for n in order:
        partition, at = written[n]
        clock = partition if per_partition else 0
        if clock in greatest and at <= greatest[clock] - ALLOWED:
            found.add(n)
        greatest[clock] = max(greatest.get(clock, at), at)
    return frozenset(found)


def judged(written: Sequence[tuple[int, int]], missing: frozenset[int]) -> dict[int, str]:
    """Lateness of each input, by its number."""
    offsets = {0: 0, 1: 0, 2: 0}
    inputs, numbers = [], {}
    for n, (partition, at) in enumerate(written):
        place = (partition, offsets[partition])
        offsets[partition] += 1
        numbers[place] = n
        inputs.append(timed_input(*place, at, n, served=n not in missing))
    return {numbers[place]: verdict for place, verdict in lateness(inputs, ALLOWED).items()}


@given(runs(), st.booleans())
def test_inputs_dropped_by_a_correct_pipeline_are_excused(
    run: tuple[list[tuple[int, int]], list[int]], per_partition: bool
) -> None:
    written, order = run
    missing = dropped(written, order, per_partition)
    assert missing <= judged(written, missing).keys()


@given(runs(), st.data())
def test_lateness_matches_a_pipeline_that_reads_in_write_order(
    run: tuple[list[tuple[int, int]], list[int]], data: st.DataObject
) -> None:
    written, _ = run
    late = dropped(written, range(len(written)), per_partition=False)
    lost = data.draw(st.frozensets(st.sampled_from(range(len(written)))))
    found = judged(written, late | lost)
    assert {n for n, verdict in found.items() if verdict == LATE} == late
    for n in range(len(written)):
        later_times = [
            at
            for i, (partition, at) in enumerate(written)
            if i > n and partition == written[n][0] and i not in late | lost
        ]
        if n in lost - late:
            assert (n in found) == (not any(at <= written[n][1] for at in later_times))
        elif n not in late:
            assert n not in found


def test_timed_reads_inputs_from_the_log() -> None:
    times = EventTime.parse("json:$.at", "s", "3s")
    headers = [{RECORD_HEADER: b"a", ATTEMPT_HEADER: b"s/1"}, {RECORD_HEADER: b"b"}]
    entries = [
        logs.entry(n, transactional=False, value=b'{"at": %d}' % (n + 7), headers=each)
        for n, each in enumerate(headers)
    ]
    odd = logs.entry(
        2, transactional=False, value=b'{"at": 99}', headers={ODD_HEADER: b"", RECORD_HEADER: b"c"}
    )
    sends = [{"attempt": "s/1", "called_at": 3, "returned_at": 4, "outcome": "ok"}]
    found = timed([logs.log(*entries, odd)], times=times, served=[{"a", "b"}, {"a"}], sends=sends)
    assert found == [
        TimedInput(place=(0, 0), at=7_000_000, called=3, returned=4, served=True),
        TimedInput(place=(0, 1), at=8_000_000, served=False),
    ]
    (unacknowledged, _) = timed(
        [logs.log(*entries)], times=times, served=[], sends=[{**sends[0], "outcome": "info"}]
    )
    assert (unacknowledged.called, unacknowledged.returned) == (3, float("inf"))
