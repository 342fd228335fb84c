"""Whether a commit that was lost was of anything new."""

from __future__ import annotations

from typing import Any

import pytest

from harness.faults.kill_program import says_new


def event(at: int, *positions: tuple[str, int, int], number: int | None = None) -> dict[str, Any]:
    return {
        "at": at,
        "api": "OffsetCommit",
        "link": "pipeline → broker-1",
        "client_id": "it",
        "correlation_id": at if number is None else number,
        "positions": [list(place) for place in positions],
    }


BEFORE = {("orders", 0): 40, ("orders", 1): 7}


@pytest.mark.parametrize("topic", ["orders", ""])
def test_it_is_if_it_goes_beyond_what_was_committed(topic: str) -> None:
    assert says_new(event(1, (topic, 0, 40), (topic, 1, 8)), "orders", BEFORE, [])
    assert says_new(event(1, (topic, 2, 1)), "orders", BEFORE, [])


def test_it_is_not_if_it_says_the_same_again() -> None:
    assert not says_new(event(1, ("orders", 0, 40), ("orders", 1, 7)), "orders", BEFORE, [])
    assert not says_new(event(1), "orders", BEFORE, []), "an empty one"
    assert not says_new(event(1, ("orders", 2, 0)), "orders", BEFORE, []), "a beginning"


def test_what_goes_for_another_topic_counts_for_nothing() -> None:
    assert not says_new(event(1, ("else", 0, 99)), "orders", BEFORE, [])
    assert says_new(event(2, ("orders", 0, 41)), "orders", BEFORE, [event(1, ("else", 0, 99))])


def test_commits_that_were_sent_since_count_as_committed() -> None:
    met = event(5, ("orders", 0, 50))
    assert not says_new(met, "orders", BEFORE, [event(3, ("orders", 0, 50)), met])
    assert says_new(met, "orders", BEFORE, [event(3, ("orders", 0, 49)), met])


def test_itself_and_what_came_behind_it_do_not() -> None:
    request = event(4, ("orders", 0, 50), number=9)
    answer = {**event(6, ("orders", 0, 50), number=9), "direction": "response"}
    behind = event(5, ("orders", 0, 60))
    assert says_new(answer, "orders", BEFORE, [behind, request])


def test_the_end_of_a_transaction_is_always_of_something() -> None:
    assert says_new({**event(1), "api": "EndTxn"}, "orders", BEFORE, [])
