"""Whether a lost commit contained new offsets."""

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


def commits_new(
    commit: dict[str, Any],
    *sent: dict[str, Any],
    refused: tuple[dict[str, Any], ...] = (),
    **more: Any,
) -> bool:
    options = {"topics": ("orders",), "before": BEFORE, **more}
    return commits_new_positions(commit, sent=sent, refused=refused, **options)


def test_offsets_beyond_the_committed_ones_are_new() -> None:
    assert commits_new(event(1, ("orders", 0, 40), ("orders", 1, 8)))
    assert commits_new(event(1, ("orders", 2, 1)))


def test_repeating_the_same_offset_commits_nothing_new() -> None:
    assert not commits_new(event(1, ("orders", 0, 40), ("orders", 1, 7)))
    assert not commits_new(event(1)), "an empty one"
    assert not commits_new(event(1, ("orders", 2, 0))), "a beginning"


def test_offsets_of_other_topics_are_ignored() -> None:
    assert not commits_new(event(1, ("else", 0, 99)))
    assert not commits_new(event(1, ("an id that nobody knows", 0, 99)))
    assert commits_new(event(2, ("orders", 0, 41)), event(1, ("else", 0, 99)))


def test_commits_of_other_groups_are_ignored() -> None:
    slow = event(2, ("orders", 0, 30), groups=["slow"])
    assert commits_new(slow, event(1, ("orders", 0, 90)))
    assert not commits_new(
        event(2, ("orders", 0, 40)), event(1, ("orders", 0, 12), groups=["slow"])
    )
    assert commits_new(event(1, ("orders", 0, 1), groups=["first of all"]))


def test_earlier_sent_commits_count_as_committed() -> None:
    commit = event(5, ("orders", 0, 50))
    assert not commits_new(commit, event(3, ("orders", 0, 50)), commit)
    assert commits_new(commit, event(3, ("orders", 0, 49)), commit)


def test_refused_commits_do_not_count_as_committed() -> None:
    commit, before = event(5, ("orders", 0, 50)), event(3, ("orders", 0, 50))
    answer = {**before, "at": 4, "error": "NotCoordinatorError"}
    assert commits_new(commit, before, commit, refused=(answer,))


def test_commit_itself_and_later_ones_do_not_count_as_committed() -> None:
    request = event(4, ("orders", 0, 50), correlation_id=9)
    answer = {**request, "at": 6, "direction": "response"}
    later = event(5, ("orders", 0, 60))
    assert commits_new(answer, later, request)
    other_connection = event(1, ("orders", 0, 50), correlation_id=9, connection=4)
    assert not commits_new(answer, other_connection, later, request), (
        "ids are counted by connection"
    )


def test_nothing_is_new_without_known_committed_offsets() -> None:
    assert not commits_new(event(1, ("orders", 0, 99)), before=None)


def test_end_of_a_transaction_is_always_new() -> None:
    assert commits_new({**event(1), "api": "EndTxn"}, before=None)
