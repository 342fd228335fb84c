"""Readers see records that they must not see, or miss some."""

from __future__ import annotations

from random import Random
from typing import Final

from tests.properties.checkers.mutating.base import Mutation, data, mutation, remove
from tests.properties.checkers.world import Row, World, new


def _aborted_entry(world: World, draw: Random, row: Row) -> None:
    """A read_committed reader reads an aborted entry."""
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


def _failed_send(world: World, draw: Random, row: Row) -> None:
    place = {"partition": 0, "offset": 10**6 + draw.randrange(9)}
    carried = {"attempt": draw.choice((row["attempt"], None))}
    _read_by(world, draw, {**row, **place, **carried}, at=10_000)


def _before_commit(world: World, draw: Random, row: Row) -> bool:
    """A reader reads an entry of a transaction before its commit is called."""
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


def _before_send(world: World, draw: Random, row: Row) -> bool:
    """A reader reads an entry before or while its send is called."""
    calls = [s["called_at"] for s in world.rows["sends"] if s["record"] == row["record"]]
    if not calls:
        return False
    carried = {"attempt": draw.choice((row["attempt"], None))}
    read = _read_by(world, draw, {**row, **carried}, at=min(calls) - draw.randint(0, 2))
    read["clock"] = draw.choice(("clock", "clock", "clock", "another host"))
    return True


def _never_finished(world: World, draw: Random, row: Row) -> None:
    """A session never reads the rest of a partition."""
    session = (row["reader"], row["session"], row["topic"], row["partition"])
    for read in list(world.rows["reads"]):
        place = (read["reader"], read["session"], read["topic"], read["partition"])
        if place == session and read["offset"] >= row["offset"]:
            remove(world, "reads", read)


def _never_revoked(world: World, draw: Random, row: Row) -> None:
    row["until_at"] = None


def _earlier_position(world: World, draw: Random, row: Row) -> None:
    row["position"] = max(0, row["position"] - draw.randint(1, 3))


def _read_committed(world: World, draw: Random, row: Row) -> None:
    row["isolation"] = "read_committed"


def _read_uncommitted(world: World, draw: Random, row: Row) -> None:
    row["isolation"] = "read_uncommitted"


MUTATIONS: Final[tuple[Mutation, ...]] = (
    mutation("aborted entry read", "aborted-read", "log", _aborted_entry,
          lambda row: data(row) and not row["committed"], "precommitted-read"),
    mutation("failed send read", "aborted-read", "sends", _failed_send,
          lambda row: row["outcome"] == "fail", "precommitted-read"),
    mutation("read before commit", "precommitted-read", "log", _before_commit, data,
          "aborted-read phantom"),
    mutation("read before it was sent", "phantom", "log", _before_send, data,
          "aborted-read precommitted-read"),
    mutation("session stopped reading", "unseen", "reads", _never_finished),
    mutation("assignment without end", "unseen", "assignments", _never_revoked,
          lambda row: row["until_at"] is not None),
    mutation("assigned from an earlier position", "skipped-read", "assignments", _earlier_position),
    mutation("reader with read_committed", "aborted-read", "reads", _read_committed,
          lambda row: row["isolation"] == "read_uncommitted", "precommitted-read G1c"),
    mutation("reader with read_uncommitted", "skipped-read", "reads", _read_uncommitted,
          lambda row: row["isolation"] == "read_committed"),
)  # fmt: skip
