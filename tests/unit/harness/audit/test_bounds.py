"""Parsing the bounds of an audit window."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from onceproof.harness.audit.bounds import BadBound, Bound


def test_time_with_zone_is_absolute() -> None:
    at = datetime(2026, 11, 24, 22, tzinfo=UTC).timestamp() * 1000
    assert Bound.parse("2026-11-24T22:00Z", end="latest") == Bound(at=int(at))
    assert Bound.parse("2026-11-24T23:00+01:00", end="latest") == Bound(at=int(at))


def test_time_without_zone_is_local() -> None:
    local = datetime(2026, 11, 24, 22).astimezone()
    assert Bound.parse("2026-11-24T22:00", end="latest") == Bound(at=int(local.timestamp() * 1000))


def test_offsets_are_parsed_by_partition() -> None:
    assert Bound.parse("0:1200,11:7", end="earliest") == Bound(offsets={0: 1200, 11: 7})


def test_earliest_is_an_open_bound() -> None:
    assert Bound.parse("earliest", end="earliest") == Bound()


@pytest.mark.parametrize("text", ["", "latest", "yesterday", "1:2:3", "0:1,0:2", "-1:5", "0:1,"])
def test_invalid_bound_is_refused(text: str) -> None:
    with pytest.raises(BadBound, match=r"expected|twice"):
        Bound.parse(text, end="earliest")
