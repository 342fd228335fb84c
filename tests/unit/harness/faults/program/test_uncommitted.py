"""What was in hand when a rebalance took a program's partitions, by made-up messages."""

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


HEARD, JOIN = message("Heartbeat"), message("JoinGroup")
SYNC, GIVEN = message("SyncGroup"), message("OffsetFetch")


def fetch(*positions: tuple[int, int], topic: str = "orders") -> Event:
    return message("Fetch", *positions, topic=topic)


def commit(*positions: tuple[int, int]) -> Event:
    return message("OffsetCommit", *positions)


def pending(*positions: tuple[int, int], of: str = "copy-1") -> Event:
    return message("TxnOffsetCommit", *positions, ids=(of,))


def end(of: str = "copy-1") -> Event:
    return message("EndTxn", ids=(of,))


@pytest.mark.parametrize(
    ("events", "most"),
    [
        ((), 0),
        ((fetch((0, 9)),), 0),
        ((fetch((0, 9)), HEARD, JOIN, SYNC, GIVEN), 4),
        ((fetch((0, 9), (1, 8)), JOIN, SYNC, GIVEN), 5),
        # Committed before it heard of it: nothing is in hand.
        ((fetch((0, 9)), commit((0, 9)), HEARD, JOIN, SYNC, GIVEN), 0),
        # Committed because it heard of it, before it joins.
        ((fetch((0, 9)), HEARD, commit((0, 9)), JOIN, SYNC, GIVEN), 4),
        # Committed by chance, while the others join: what it does about a rebalance is not seen.
        ((fetch((0, 9)), HEARD, JOIN, commit((0, 9)), SYNC, GIVEN), 0),
        ((fetch((0, 9)), HEARD, JOIN, SYNC, commit((0, 9)), GIVEN), 0),
        ((fetch((0, 9)), HEARD, JOIN, SYNC, GIVEN, commit((0, 9))), 4),
        # In a transaction: they are committed when it is, which may wait for what was produced.
        ((fetch((0, 9)), pending((0, 9)), HEARD, end(), JOIN, SYNC, GIVEN), 4),
        ((fetch((0, 9)), pending((0, 9)), end(), HEARD, JOIN, SYNC, GIVEN), 0),
        ((fetch((0, 9)), pending((0, 9)), end("copy-2"), HEARD, JOIN, SYNC, GIVEN), 4),
        ((fetch((0, 9)), HEARD, JOIN, pending((0, 9)), end(), SYNC, GIVEN), 0),
        ((fetch((0, 9)), HEARD, JOIN, SYNC, GIVEN, pending((0, 9)), end()), 4),
        # The best of several rebalances counts.
        (
            (fetch((0, 9)), JOIN, commit((0, 9)), SYNC, GIVEN, fetch((0, 12)), JOIN, SYNC, GIVEN),
            3,
        ),
        # Not seen as read, since it asks for more only when this is done.
        ((commit((0, 5)), HEARD, commit((0, 9)), JOIN, SYNC, GIVEN), 4),
        ((commit((0, 5)), commit((0, 9)), HEARD, JOIN, SYNC, GIVEN), 0),
        ((commit((0, 5)), HEARD, JOIN, commit((0, 9)), SYNC, GIVEN), 0),
        # It kept its partitions at the first of two, and asked nobody where to go on.
        (
            (commit((0, 5)), HEARD, JOIN, SYNC, HEARD, commit((0, 9)), JOIN, SYNC, GIVEN),
            4,
        ),
        ((fetch((0, 9)), HEARD, JOIN, SYNC, HEARD, JOIN, commit((0, 9)), SYNC, GIVEN), 4),
        # One that does not ask where to go on is given its partitions when it has joined.
        ((fetch((0, 9)), HEARD, JOIN, SYNC), 4),
        # It has not been given partitions yet, or never joins.
        ((fetch((0, 9)), HEARD, JOIN), 0),
        ((fetch((0, 9)), HEARD), 0),
        ((fetch((0, 9), topic="other"), HEARD, JOIN, SYNC, GIVEN), 0),
        # Of what was never committed nobody knows where it began.
        ((fetch((2, 9)), HEARD, JOIN, SYNC, GIVEN), 0),
    ],
)
def test_what_was_in_hand(events: tuple[Event, ...], most: int) -> None:
    assert most_in_hand(events, ("orders",), {("orders", 0): 5, ("orders", 1): 7}) == most


class Groups:
    """Where the group was before."""

    def newest(self) -> dict[tuple[str, int], int]:
        return {("orders", 0): 5}


class Looked:
    """Outputs that nobody looks at."""

    groups = Groups()
    topics = ("orders",)


def test_it_sees_what_passes_between_making_and_removing_it() -> None:
    gate = FakeGate(fired=[fetch((0, 6))])
    stage = FakeStage(gates={Link("pipeline", "broker-1"): gate})
    seen = Uncommitted(FakeContext(pipeline=FakeProgram(Looked()), stage=stage), "readers")
    assert {rule.message.api for rule in gate.rules} == {
        "JoinGroup", "OffsetFetch", "SyncGroup", "OffsetCommit", "TxnOffsetCommit", "Heartbeat",
        "Fetch", "EndTxn",
    }  # fmt: skip
    assert seen.most() == 0
    seen.remove()
    assert not gate.rules


def test_a_member_that_joins_late_is_waited_for() -> None:
    looks = iter([0] * 20)
    shared = iter([False] * 15)
    found = most_by_the_end(lambda: next(looks, 7), lambda: next(shared, True), FakeStop())
    assert found == 7
    assert next(looks, None) is None, "it had settled before it was given its partitions"


def test_one_that_has_nothing_in_hand_is_done_when_its_group_is() -> None:
    assert most_by_the_end(lambda: 0, lambda: True, FakeStop()) == 0
