"""Event times as they are read, moved and made up."""

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
def test_an_event_time_is_read_in_its_format(format_: str, at: Any) -> None:
    assert times(format_).read(json.dumps({"at": at})) == BEGIN


@pytest.mark.parametrize(
    ("format_", "value", "says"),
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
def test_what_does_not_fit_is_refused(format_: str, value: Any, says: str) -> None:
    with pytest.raises(BadRule, match=says):
        times(format_).read(json.dumps(value))
    assert times(format_).find(json.dumps(value)) is None
    assert times(format_).find(None) is None


@pytest.mark.parametrize(
    ("rule", "format_", "lateness", "says"),
    [
        ("key", "iso", "10s", "invalid --event-time 'key': expected json:"),
        ("json:$.at[0]", "iso", "10s", "invalid --event-time"),
        ("json:$.at", "us", "10s", "invalid --event-time-format 'us': expected iso, ms, s"),
        ("json:$.at", "iso", "10", "invalid --allowed-lateness '10': expected a number and a unit"),
        ("json:$.at", "iso", "0s", "invalid --allowed-lateness"),
    ],
)
def test_an_option_that_cannot_be_understood_is_refused(
    rule: str, format_: str, lateness: str, says: str
) -> None:
    with pytest.raises(BadRule, match=says):
        EventTime.parse(rule, format_, lateness)


@pytest.mark.parametrize(
    ("lateness", "micros"), [("500ms", 500_000), ("10s", 10_000_000), ("5m", 300_000_000)]
)
def test_allowed_lateness_has_a_unit(lateness: str, micros: int) -> None:
    assert times(lateness=lateness).lateness == micros


@pytest.mark.parametrize(
    ("format_", "was", "becomes"),
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
def test_an_event_time_is_moved_and_looks_as_before(format_: str, was: Any, becomes: Any) -> None:
    moved = times(format_).put(json.dumps({"id": 3, "at": was}), BEGIN)
    assert json.loads(moved) == {"id": 3, "at": becomes}


def test_an_event_time_is_put_where_none_was() -> None:
    nested = times("ms", rule="json:$.meta.at")
    assert json.loads(nested.put('{"id": 3}', BEGIN))["meta"] == {"at": BEGIN // 1000}
    assert json.loads(times().put("{}", BEGIN)) == {"at": "2026-01-01T00:00:00.000Z"}


def test_made_up_event_times_increase_are_out_of_order_and_late() -> None:
    made = made_up(times(), 5_000, seed=3)
    assert made == made_up(times(), 5_000, seed=3) != made_up(times(), 5_000, seed=4)
    which, disordered = late(times(), made)
    assert [n for n, is_late in enumerate(which) if is_late] == list(range(25, 5_000, 50))
    assert 4_000 < disordered < 5_000
    assert made[-1] - made[0] > 15 * times().lateness, "many windows are closed"


def test_an_input_is_late_at_the_very_limit() -> None:
    allowed = times(lateness="1s")
    seconds = [10, 12, 11, 11.1, 13]
    which, disordered = late(allowed, [round(each * 1e6) for each in seconds])
    assert (which, disordered) == ([False, False, True, False, False], 1)
    assert late(allowed, []) == ([], 0)


def test_each_round_is_far_beyond_all_before_it() -> None:
    rounds = [round_event_time(times(), [BEGIN, BEGIN - 5], number) for number in range(3)]
    assert rounds == [BEGIN + DAY, BEGIN + 2 * DAY, BEGIN + 3 * DAY]
    hours = times(lateness="2h")
    assert round_event_time(hours, [BEGIN], 0) - BEGIN == 1_000 * hours.lateness
    assert round_event_time(times(), [], 0) > BEGIN
