"""Reading, moving and generating event times."""

from __future__ import annotations

import json
from typing import Any

import pytest

from onceproof.harness.user_pipeline.event_time import (
    EventTime,
    late,
    made_up,
    round_event_time,
)
from onceproof.harness.user_pipeline.identity import BadRule

DAY = 86_400_000_000
BEGIN = 1_767_225_600_000_000
"""2026-01-01T00:00:00Z."""


def times(format_: str = "iso", *, lateness: str = "10s", rule: str = "json:$.at") -> EventTime:
    return EventTime.parse(rule, format_, lateness)


@pytest.mark.parametrize(
    ("format_", "at"),
    [
        ("iso", "2026-01-01T00:00:00Z"),
        ("iso", "2026-01-01 00:00:00.000"),
        ("iso", "2026-01-01"),
        ("iso", "2026-01-01T01:00:00+01:00"),
        ("ms", 1_767_225_600_000),
        ("ms", "1767225600000"),
        ("s", 1_767_225_600),
        ("s", 1_767_225_600.0),
    ],
)
def test_reads_event_time_in_its_format(format_: str, at: Any) -> None:
    assert times(format_).read(json.dumps({"at": at})) == BEGIN


@pytest.mark.parametrize(
    ("format_", "value", "message"),
    [
        ("iso", {"at": 1_767_225_600_000}, "ISO 8601.*, or --event-time-format ms$"),
        ("iso", {"at": 1_767_225_600}, "or --event-time-format s$"),
        ("iso", {"at": "yesterday"}, 'is "yesterday"; expected a time in ISO 8601'),
        ("ms", {"at": 1_767_225_600}, "milliseconds since 1970, or --event-time-format s$"),
        ("s", {"at": 1_767_225_600_000}, "seconds since 1970, or --event-time-format ms$"),
        ("ms", {"at": "2026-01-01"}, "or --event-time-format iso$"),
        ("ms", {"at": BEGIN}, "expected milliseconds since 1970$"),
        ("ms", {"at": True}, "is true; expected milliseconds"),
        ("ms", {"at": None}, "is null; expected milliseconds"),
        ("ms", {"when": 3}, r"no event time at \$.at; the record is '{\"when\": 3}'"),
        ("ms", 7, "no event time"),
    ],
)
def test_rejects_missing_or_mismatched_event_time(format_: str, value: Any, message: str) -> None:
    with pytest.raises(BadRule, match=message):
        times(format_).read(json.dumps(value))
    assert times(format_).find(json.dumps(value)) is None
    assert times(format_).find(None) is None


@pytest.mark.parametrize(
    ("rule", "format_", "lateness", "message"),
    [
        ("key", "iso", "10s", "invalid --event-time 'key': expected json:"),
        ("json:$.at[0]", "iso", "10s", "invalid --event-time"),
        ("json:$.at", "us", "10s", "invalid --event-time-format 'us': expected iso, ms, s"),
        ("json:$.at", "iso", "10", "invalid --allowed-lateness '10': expected a number and a unit"),
        ("json:$.at", "iso", "0s", "invalid --allowed-lateness"),
    ],
)
def test_rejects_invalid_options(rule: str, format_: str, lateness: str, message: str) -> None:
    with pytest.raises(BadRule, match=message):
        EventTime.parse(rule, format_, lateness)


@pytest.mark.parametrize(
    ("lateness", "micros"), [("500ms", 500_000), ("10s", 10_000_000), ("5m", 300_000_000)]
)
def test_parses_allowed_lateness_with_unit(lateness: str, micros: int) -> None:
    assert times(lateness=lateness).lateness == micros


@pytest.mark.parametrize(
    ("format_", "before", "after"),
    [
        ("iso", "2025-12-31T23:00:00Z", "2026-01-01T00:00:00Z"),
        ("iso", "2025-12-31 23:00:00", "2026-01-01 00:00:00"),
        ("iso", "2025-12-31T23:00:00.000123", "2026-01-01T00:00:00.000"),
        ("iso", "2025-12-31T23:00:00+01:00", "2026-01-01T01:00:00+01:00"),
        ("ms", 7, 1_767_225_600_000),
        ("ms", "7", "1767225600000"),
        ("s", 7, 1_767_225_600),
    ],
)
def test_put_keeps_the_format_of_the_event_time(format_: str, before: Any, after: Any) -> None:
    moved = times(format_).put(json.dumps({"id": 3, "at": before}), BEGIN)
    assert json.loads(moved) == {"id": 3, "at": after}


def test_put_adds_a_missing_event_time() -> None:
    nested = times("ms", rule="json:$.meta.at")
    assert json.loads(nested.put('{"id": 3}', BEGIN))["meta"] == {"at": BEGIN // 1000}
    assert json.loads(times().put("{}", BEGIN)) == {"at": "2026-01-01T00:00:00.000Z"}


def test_made_up_event_times_include_disordered_and_late_ones() -> None:
    event_times = made_up(times(), 5_000, seed=3)
    assert event_times == made_up(times(), 5_000, seed=3) != made_up(times(), 5_000, seed=4)
    late_flags, disordered = late(times(), event_times)
    assert [n for n, is_late in enumerate(late_flags) if is_late] == list(range(25, 5_000, 50))
    assert 4_000 < disordered < 5_000
    assert event_times[-1] - event_times[0] > 15 * times().lateness, "many windows are closed"


def test_input_at_the_lateness_limit_is_late() -> None:
    allowed = times(lateness="1s")
    seconds = [10, 12, 11, 11.1, 13]
    late_flags, disordered = late(allowed, [round(second * 1e6) for second in seconds])
    assert (late_flags, disordered) == ([False, False, True, False, False], 1)
    assert late(allowed, []) == ([], 0)


def test_each_round_lies_far_beyond_earlier_event_times() -> None:
    rounds = [round_event_time(times(), [BEGIN, BEGIN - 5], number) for number in range(3)]
    assert rounds == [BEGIN + DAY, BEGIN + 2 * DAY, BEGIN + 3 * DAY]
    hours = times(lateness="2h")
    assert round_event_time(hours, [BEGIN], 0) - BEGIN == 1_000 * hours.lateness
    assert round_event_time(times(), [], 0) > BEGIN
