"""Readers see what they must not, or not what they must."""

from __future__ import annotations

from random import Random
from typing import Final

from tests.properties.checkers.mutating.base import Mutation, data, mutation, remove
from tests.properties.checkers.world import Row, World, new


def _aborted(world: World, draw: Random, row: Row) -> None:
    """A careful reader of its own reads an entry that was aborted."""
    _read_by(world, draw, row, at=10_000)


def _read_by(world: World, draw: Random, row: Row, at: int) -> Row:
    read = new(
        "reads", reader="careful", session="careful/1", ordinal=len(world.rows["reads"]) + 100,
        isolation="read_committed", topic=row["topic"], partition=row["partition"],
        offset=row["offset"], record=row["record"], attempt=row.get("attempt"), at=at,
        clock="clock",
    )  # fmt: skip
    world.rows["reads"].append(read)
    return read


def _of_failed(world: World, draw: Random, row: Row) -> None:
    place = {"partition": 0, "offset": 10**6 + draw.randrange(9)}
    carried = {"attempt": draw.choice((row["attempt"], None))}
    _read_by(world, draw, {**row, **place, **carried}, at=10_000)


def _early(world: World, draw: Random, row: Row) -> bool:
    """Somebody reads an entry of a transaction before its commit is called."""
    called = {t["txn"]: t["commit_called_at"] for t in world.rows["txns"]}
    sends = [
        s
        for s in world.rows["sends"]
        if called.get(s["txn"]) is not None and s["record"] == row["record"]
    ]
    if not sends:
        return False
    at = called[sends[0]["txn"]] - draw.randint(0, 2)
    read = _read_by(world, draw, row, at=at)
    read["clock"] = draw.choice(("clock", "clock", "clock", "another host"))
    return True


def _before_it_was_sent(world: World, draw: Random, row: Row) -> bool:
    """Somebody reads an entry before, or just when, a send of it is called."""
    calls = [s["called_at"] for s in world.rows["sends"] if s["record"] == row["record"]]
    if not calls:
        return False
    carried = {"attempt": draw.choice((row["attempt"], None))}
    read = _read_by(world, draw, {**row, **carried}, at=min(calls) - draw.randint(0, 2))
    read["clock"] = draw.choice(("clock", "clock", "clock", "another host"))
    return True


def _blind(world: World, draw: Random, row: Row) -> None:
    """The end of what a session read never came."""
    mine = (row["reader"], row["session"], row["topic"], row["partition"])
    for read in list(world.rows["reads"]):
        place = (read["reader"], read["session"], read["topic"], read["partition"])
        if place == mine and read["offset"] >= row["offset"]:
            remove(world, "reads", read)


def _for_ever(world: World, draw: Random, row: Row) -> None:
    row["until_at"] = None


def _from_further_back(world: World, draw: Random, row: Row) -> None:
    row["position"] = max(0, row["position"] - draw.randint(1, 3))


def _with_care(world: World, draw: Random, row: Row) -> None:
    row["isolation"] = "read_committed"


def _without_care(world: World, draw: Random, row: Row) -> None:
    row["isolation"] = "read_uncommitted"


MUTATIONS: Final[tuple[Mutation, ...]] = (
    mutation("aborted entry read", "aborted-read", "log", _aborted,
          lambda row: data(row) and not row["committed"], "precommitted-read"),
    mutation("failed send read", "aborted-read", "sends", _of_failed,
          lambda row: row["outcome"] == "fail", "precommitted-read"),
    mutation("read early", "precommitted-read", "log", _early, data, "aborted-read phantom"),
    mutation("read before it was sent", "phantom", "log", _before_it_was_sent, data,
          "aborted-read precommitted-read"),
    mutation("went blind", "unseen", "reads", _blind),
    mutation("assigned for ever", "unseen", "assignments", _for_ever,
          lambda row: row["until_at"] is not None),
    mutation("assigned from further back", "skipped-read", "assignments", _from_further_back),
    mutation("careful reader", "aborted-read", "reads", _with_care,
          lambda row: row["isolation"] == "read_uncommitted", "precommitted-read G1c"),
    mutation("careless reader", "skipped-read", "reads", _without_care,
          lambda row: row["isolation"] == "read_committed"),
)  # fmt: skip
