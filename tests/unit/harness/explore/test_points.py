"""Points, their order in a transaction, and where a fault must act to meet one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onceproof.harness.explore.acts import Single, acts_at, singles
from onceproof.harness.explore.exploration import Load
from onceproof.harness.explore.points import (
    Passed,
    Point,
    learn,
    passed_by,
    place_of,
    points_in,
)
from onceproof.harness.links.gate.rules import MessageMatch
from tests.unit.harness.explore.toy import run_of, where

PRODUCE = Point(
    role="producer", direction="request", api="Produce", purpose="work", ordinal="first",
    target="leader",
)  # fmt: skip
LOADS = st.builds(Load, transactions=st.integers(1, 6), records=st.integers(1, 6))


@pytest.mark.parametrize(
    ("records", "ordinals"),
    [
        (1, ["first"]),
        (2, ["first", "last"]),
        (3, ["first", "middle", "last"]),
        (5, ["first", "middle", "middle", "middle", "last"]),
    ],
)
def test_messages_of_a_transaction_are_folded(records: int, ordinals: list[str]) -> None:
    found = points_in(run_of(Load(transactions=1, records=records)))
    produces = [p.ordinal for p in found if (p.api, p.direction) == ("Produce", "request")]
    assert produces == ordinals


@given(load=LOADS)
def test_id_of_every_point_and_single_can_be_parsed(load: Load) -> None:
    for passed in passed_by(run_of(load)):
        assert Passed.parse(passed.id) == passed
        for single in singles([passed.point]):
            assert Single.parse(single.id) == single


@pytest.mark.parametrize("text", ["", "a/b", "request lost", "burned @ " + PRODUCE.id])
def test_text_that_names_no_single_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="invalid"):
        Single.parse(text)


WINDOW = Point(
    role="query", direction="window", api="after-commit", purpose="commit", ordinal="first",
    target="checkpoint",
)  # fmt: skip


def test_client_is_killed_and_paused_in_a_window() -> None:
    assert {act.name for act in acts_at(WINDOW)} == {"client killed", "client paused"}
    for single in singles([WINDOW]):
        assert Single.parse(single.id) == single
        assert single.id == f"{single.act.name} @ query/window/after-commit/commit/first/checkpoint"
    assert Passed.parse(f"1.0. {WINDOW.id}") == Passed(point=WINDOW, unit=0, life=1, ends=True)


def test_place_is_counted_from_the_window_that_ended_the_unit_before() -> None:
    fetch = replace(PRODUCE, role="query", api="Fetch", target="input-leader")
    trace = [
        Passed(point=point, unit=unit, life=1, ends=point == WINDOW)
        for unit in range(5)
        for point in (fetch, WINDOW)
    ]
    for point in (fetch, WINDOW):
        place = place_of(point, trace)
        assert place is not None
        assert (place.ends, place.ended_by, place.nth) == (2, "after-commit", 1)


def test_every_direction_has_its_acts() -> None:
    request = {act.name for act in acts_at(PRODUCE)}
    response = {act.name for act in acts_at(replace(PRODUCE, direction="response"))}
    assert request.isdisjoint(response)
    assert {"request lost", "request duplicated", "client killed before"} < request
    assert {"response lost", "client killed after", "answered REQUEST_TIMED_OUT"} < response


@given(load=LOADS)
def test_place_is_where_the_point_is(load: Load) -> None:
    trace = run_of(load)
    passed = passed_by(trace)
    for point in dict.fromkeys(one.point for one in passed):
        place = place_of(point, passed)
        assert place is not None
        assert passed[where(trace, place, point)[place.nth - 1]].point == point


def test_place_is_in_the_transaction_in_the_middle() -> None:
    trace = passed_by(run_of(Load(transactions=5, records=2)))
    place = place_of(PRODUCE, trace)
    assert place is not None
    assert (place.ends, place.nth) == (2, 1)


def test_place_after_a_message() -> None:
    trace = passed_by(run_of(Load(transactions=3, records=1)))
    at = [n for n, passed in enumerate(trace) if passed.point == PRODUCE]
    found = [place_of(PRODUCE, trace, after=n) for n in at]
    assert [place and (place.ends, place.nth) for place in found] == [(1, 1), (2, 1), None]


def test_points_that_some_runs_lack_are_unstable() -> None:
    small, large = (passed_by(run_of(Load(transactions=2, records=records))) for records in (2, 3))
    protocol = learn([small, large, small])
    assert {point.ordinal for point in protocol.unstable} == {"middle"}
    assert set(protocol.stable) == {passed.point for passed in small}


def test_two_runs_are_too_few() -> None:
    with pytest.raises(ValueError, match="2 runs without faults; expected at least 3"):
        learn([passed_by(run_of(Load()))] * 2)


def test_a_gate_can_carry_out_every_act() -> None:
    apis = ("InitProducerId", "AddPartitionsToTxn", "Produce", "EndTxn", "Metadata")
    for point in (
        replace(PRODUCE, api=api, direction=direction)  # type: ignore[arg-type]
        for api in apis
        for direction in ("request", "response")
    ):
        for act in acts_at(point):
            MessageMatch(direction=act.direction, api=point.api).rule(act.action, error=act.error)
