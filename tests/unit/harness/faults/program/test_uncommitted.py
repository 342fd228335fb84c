"""Inputs in hand when a rebalance revokes a program's partitions."""

from __future__ import annotations

from typing import Any

import pytest

from onceproof.harness.faults.program.uncommitted import (
    Uncommitted,
    most_by_the_end,
    most_in_hand,
)
from onceproof.harness.links.topology import Link
from tests.unit.fakes.pipelines import FakeProgram
from tests.unit.fakes.run_context import FakeContext, FakeStop
from tests.unit.fakes.stage import FakeGate, FakeStage

Event = dict[str, Any]


def message(
    api: str, *positions: tuple[int, int], topic: str = "orders", ids: tuple[str, ...] = ()
) -> Event:
    places = [[topic, *place] for place in positions]
    return {"api": api, "at": 0, "positions": places, "transactional_ids": ids}


HEARTBEAT, JOIN = message("Heartbeat"), message("JoinGroup")
SYNC, OFFSETS = message("SyncGroup"), message("OffsetFetch")


def fetch(*positions: tuple[int, int], topic: str = "orders") -> Event:
    return message("Fetch", *positions, topic=topic)


def commit(*positions: tuple[int, int]) -> Event:
    return message("OffsetCommit", *positions)


def pending(*positions: tuple[int, int], transactional_id: str = "copy-1") -> Event:
    return message("TxnOffsetCommit", *positions, ids=(transactional_id,))


def end(transactional_id: str = "copy-1") -> Event:
    return message("EndTxn", ids=(transactional_id,))


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ((), 0),
        ((fetch((0, 9)),), 0),
        ((fetch((0, 9)), HEARTBEAT, JOIN, SYNC, OFFSETS), 4),
        ((fetch((0, 9), (1, 8)), JOIN, SYNC, OFFSETS), 5),
        # Committed before it heard of the rebalance: nothing is in hand.
        ((fetch((0, 9)), commit((0, 9)), HEARTBEAT, JOIN, SYNC, OFFSETS), 0),
        # Committed because it heard of the rebalance, before it joins.
        ((fetch((0, 9)), HEARTBEAT, commit((0, 9)), JOIN, SYNC, OFFSETS), 4),
        # Committed by chance while others join: its reaction to the rebalance is unknown.
        ((fetch((0, 9)), HEARTBEAT, JOIN, commit((0, 9)), SYNC, OFFSETS), 0),
        ((fetch((0, 9)), HEARTBEAT, JOIN, SYNC, commit((0, 9)), OFFSETS), 0),
        ((fetch((0, 9)), HEARTBEAT, JOIN, SYNC, OFFSETS, commit((0, 9))), 4),
        # Offsets in a transaction are committed when it ends.
        ((fetch((0, 9)), pending((0, 9)), HEARTBEAT, end(), JOIN, SYNC, OFFSETS), 4),
        ((fetch((0, 9)), pending((0, 9)), end(), HEARTBEAT, JOIN, SYNC, OFFSETS), 0),
        ((fetch((0, 9)), pending((0, 9)), end("copy-2"), HEARTBEAT, JOIN, SYNC, OFFSETS), 4),
        ((fetch((0, 9)), HEARTBEAT, JOIN, pending((0, 9)), end(), SYNC, OFFSETS), 0),
        ((fetch((0, 9)), HEARTBEAT, JOIN, SYNC, OFFSETS, pending((0, 9)), end()), 4),
        # The largest number of several rebalances counts.
        (
            (
                fetch((0, 9)),
                JOIN,
                commit((0, 9)),
                SYNC,
                OFFSETS,
                fetch((0, 12)),
                JOIN,
                SYNC,
                OFFSETS,
            ),
            3,
        ),
        # Read without a later fetch: it fetches more only after these are done.
        ((commit((0, 5)), HEARTBEAT, commit((0, 9)), JOIN, SYNC, OFFSETS), 4),
        ((commit((0, 5)), commit((0, 9)), HEARTBEAT, JOIN, SYNC, OFFSETS), 0),
        ((commit((0, 5)), HEARTBEAT, JOIN, commit((0, 9)), SYNC, OFFSETS), 0),
        # Kept its partitions in the first of two rebalances, so it fetched no offsets.
        (
            (commit((0, 5)), HEARTBEAT, JOIN, SYNC, HEARTBEAT, commit((0, 9)), JOIN, SYNC, OFFSETS),
            4,
        ),
        ((fetch((0, 9)), HEARTBEAT, JOIN, SYNC, HEARTBEAT, JOIN, commit((0, 9)), SYNC, OFFSETS), 4),
        # A member that fetches no offsets gets its partitions with SyncGroup.
        ((fetch((0, 9)), HEARTBEAT, JOIN, SYNC), 4),
        # Has no partitions yet, or never joins.
        ((fetch((0, 9)), HEARTBEAT, JOIN), 0),
        ((fetch((0, 9)), HEARTBEAT), 0),
        ((fetch((0, 9), topic="other"), HEARTBEAT, JOIN, SYNC, OFFSETS), 0),
        # A partition that was never committed has no known start.
        ((fetch((2, 9)), HEARTBEAT, JOIN, SYNC, OFFSETS), 0),
    ],
)
def test_most_in_hand_counts_offsets_uncommitted_in_a_rebalance(
    events: tuple[Event, ...], expected: int
) -> None:
    assert most_in_hand(events, ("orders",), {("orders", 0): 5, ("orders", 1): 7}) == expected


class Groups:
    """The group's earlier commits."""

    def newest(self) -> dict[tuple[str, int], int]:
        return {("orders", 0): 5}


class FakeLook:
    """The part of a look that is used."""

    groups = Groups()
    topics = ("orders",)


def test_watches_messages_until_it_is_removed() -> None:
    gate = FakeGate(fired=[fetch((0, 6))])
    stage = FakeStage(gates={Link("pipeline", "broker-1"): gate})
    uncommitted = Uncommitted(FakeContext(pipeline=FakeProgram(FakeLook()), stage=stage), "readers")
    assert {rule.message.api for rule in gate.rules} == {
        "JoinGroup", "OffsetFetch", "SyncGroup", "OffsetCommit", "TxnOffsetCommit", "Heartbeat",
        "Fetch", "EndTxn",
    }  # fmt: skip
    assert uncommitted.most() == 0
    uncommitted.remove()
    assert not gate.rules


def test_most_by_the_end_waits_for_a_late_member() -> None:
    counts = iter([0] * 20)
    shared = iter([False] * 15)
    found = most_by_the_end(lambda: next(counts, 7), lambda: next(shared, True), FakeStop())
    assert found == 7
    assert next(counts, None) is None, "it had settled before it was given its partitions"


def test_most_by_the_end_is_zero_with_nothing_in_hand() -> None:
    assert most_by_the_end(lambda: 0, lambda: True, FakeStop()) == 0
