"""Whether a commit that was lost was of anything new."""

from __future__ import annotations

from typing import Any

from onceproof.harness.faults.targets.program_commit import commits_new_positions


def event(at: int, *positions: tuple[str, int, int], **more: Any) -> dict[str, Any]:
    return {
        "at": at,
        "api": "OffsetCommit",
        "link": "pipeline → broker-1",
        "connection": 3,
        "correlation_id": at,
        "groups": ["billing"],
        "positions": [list(place) for place in positions],
        **more,
    }


BEFORE = {"billing": {("orders", 0): 40, ("orders", 1): 7}, "slow": {("orders", 0): 10}}


def new(
    met: dict[str, Any],
    *sent: dict[str, Any],
    refused: tuple[dict[str, Any], ...] = (),
    **more: Any,
) -> bool:
    said = {"topics": ("orders",), "before": BEFORE, **more}
    return commits_new_positions(met, sent=sent, refused=refused, **said)


def test_it_is_if_it_goes_beyond_what_was_committed() -> None:
    assert new(event(1, ("orders", 0, 40), ("orders", 1, 8)))
    assert new(event(1, ("orders", 2, 1)))


def test_it_is_not_if_it_says_the_same_again() -> None:
    assert not new(event(1, ("orders", 0, 40), ("orders", 1, 7)))
    assert not new(event(1)), "an empty one"
    assert not new(event(1, ("orders", 2, 0))), "a beginning"


def test_what_goes_for_another_topic_counts_for_nothing() -> None:
    assert not new(event(1, ("else", 0, 99)))
    assert not new(event(1, ("an id that nobody knows", 0, 99)))
    assert new(event(2, ("orders", 0, 41)), event(1, ("else", 0, 99)))


def test_what_another_group_commits_counts_for_nothing() -> None:
    slow = event(2, ("orders", 0, 30), groups=["slow"])
    assert new(slow, event(1, ("orders", 0, 90)))
    assert not new(event(2, ("orders", 0, 40)), event(1, ("orders", 0, 12), groups=["slow"]))
    assert new(event(1, ("orders", 0, 1), groups=["first of all"]))


def test_commits_that_were_sent_since_count_as_committed() -> None:
    met = event(5, ("orders", 0, 50))
    assert not new(met, event(3, ("orders", 0, 50)), met)
    assert new(met, event(3, ("orders", 0, 49)), met)


def test_those_that_were_refused_do_not() -> None:
    met, before = event(5, ("orders", 0, 50)), event(3, ("orders", 0, 50))
    answer = {**before, "at": 4, "error": "NotCoordinatorError"}
    assert new(met, before, met, refused=(answer,))


def test_itself_and_what_came_behind_it_do_not() -> None:
    request = event(4, ("orders", 0, 50), correlation_id=9)
    answer = {**request, "at": 6, "direction": "response"}
    behind = event(5, ("orders", 0, 60))
    assert new(answer, behind, request)
    of_another = event(1, ("orders", 0, 50), correlation_id=9, connection=4)
    assert not new(answer, of_another, behind, request), "ids are counted by connection"


def test_where_nobody_could_say_it_is_not_known() -> None:
    assert not new(event(1, ("orders", 0, 99)), before=None)


def test_the_end_of_a_transaction_is_always_of_something() -> None:
    assert new({**event(1), "api": "EndTxn"}, before=None)
