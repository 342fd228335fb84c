"""How much a way is to write."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onceproof.harness.cost import pipelines, producers
from onceproof.harness.cost.orders import (
    FASTER,
    FIRST_COUNT,
    Order,
    Speeds,
    keeps_up,
    next_warm_up,
    warm_up,
)
from onceproof.harness.cost.producers import ACKS_1, LATE, PLAIN, TRANSACTIONAL
from onceproof.harness.cost.ways import Comparison, Phase, Setup

JAVA = producers.comparison_of("java", Setup(), extent="whole")
STREAMS = pipelines.comparison_of("streams", Setup())


def speeds(comparison: Comparison, **known: float) -> Speeds:
    usual = {way.key: 1000.0 for way in comparison.ways}
    own = {f"{comparison.name}-{name.replace('_', '-')}": value for name, value in known.items()}
    return Speeds(comparison=comparison, seconds=1.0, known=usual | own)


def test_loads_are_parts_of_the_slowest_way_that_is_compared_at_them() -> None:
    """The twin sleeps, and some are measured at full speed only: neither sets the loads."""
    found = speeds(JAVA, transactional=800.0, transactional_late=100.0, acks_1=200.0)
    assert found.slowest == 800.0
    order = found.order(JAVA.way(PLAIN), Phase(share=0.5))
    assert (order.rate, order.count, order.seconds) == (400.0, 401, 1.0)


def test_loads_are_parts_of_what_all_keep_up_with_once_that_is_known() -> None:
    found = replace(speeds(JAVA), capacity=500.0)
    assert found.order(JAVA.way(PLAIN), Phase(share=0.5)).rate == 250.0


@pytest.mark.parametrize(
    ("seconds", "took", "kept"), [(1.0, 1.09, True), (1.0, 1.11, False), (10.0, 10.9, True),
                                  (10.0, 11.1, False), (0.5, 0.59, True)],
)  # fmt: skip
def test_producer_keeps_up_if_it_ends_about_in_time(
    seconds: float, took: float, kept: bool
) -> None:
    assert keeps_up(Order(rate=100.0, count=100, seconds=seconds), took) is kept


def test_producers_end_by_time_at_full_speed() -> None:
    order = speeds(JAVA).order(JAVA.way(ACKS_1), Phase())
    assert (order.rate, order.count, order.seconds) == (None, None, 1.0)


def test_pipelines_get_as_much_as_each_other_at_full_speed() -> None:
    found = speeds(STREAMS, exactly_once=500.0)
    orders = {found.order(way, Phase()) for way in STREAMS.ways}
    assert {(order.rate, order.count) for order in orders} == {(None, 501)}


@pytest.mark.parametrize("name", [TRANSACTIONAL, LATE])
def test_phase_lasts_until_there_were_enough_commits(name: str) -> None:
    slow = producers.comparison_of("java", Setup(commit_every=(2.0,)))
    phase = slow.way(name).phases[-1]
    assert speeds(slow).order(slow.way(name), phase).seconds == 10.0
    counted = producers.comparison_of("java", Setup(commit_records=3000))
    order = speeds(counted).order(counted.way(TRANSACTIONAL), Phase(share=0.5))
    assert order.seconds == 12.0
    assert order.count == 6001


def test_nothing_is_counted_before_the_speed_is_known() -> None:
    """Or a first warm-up of transactions of a million records took an hour."""
    counted = producers.comparison_of("java", Setup(commit_records=1_000_000))
    assert warm_up(counted.way(TRANSACTIONAL), 1.0).seconds == 1.0


@given(
    st.floats(min_value=10, max_value=1e6),
    st.floats(min_value=0, max_value=0.3),
    st.floats(min_value=0.5, max_value=10),
)
def test_warm_up_of_a_pipeline_finds_its_speed(speed: float, latency: float, length: float) -> None:
    """Whatever part of a first block its start and its latency take."""
    way = replace(STREAMS.ways[0])
    order = warm_up(way, length)
    assert order.count == FIRST_COUNT
    took, rate = 0.0, 0.0
    for _ in range(30):
        assert order.count is not None
        took = latency + order.count / speed
        rate = order.count / took
        larger = next_warm_up(order, rate=rate, seconds=length)
        assert larger.count is not None
        assert order.count <= larger.count <= max(FASTER * order.count, FIRST_COUNT)
        order = larger
    assert took >= 0.7 * length or rate * length <= FIRST_COUNT + 1
    assert rate <= 1.000001 * speed


def test_patience_grows_with_the_order() -> None:
    long = speeds(producers.comparison_of("java", Setup(commit_every=(60.0,))))
    way = long.comparison.way(TRANSACTIONAL)
    order = long.order(way, way.phases[-1])
    assert order.patience > 2 * order.seconds
