"""What was told of a send or a transaction is not what happened."""

from __future__ import annotations

from random import Random
from typing import Any, Final

from tests.properties.checkers.mutating.base import Change, Mutation, mutation
from tests.properties.checkers.world import Row, World


def _told(column: str, value: Any) -> Change:
    def change(world: World, draw: Random, row: Row) -> None:
        row[column] = value

    return change


def _is(column: str, *values: str) -> Any:
    return lambda row: row[column] in values


def _in_committed(world: World, draw: Random, row: Row) -> bool:
    """A send of a committed transaction failed."""
    sends = [s for s in world.rows["sends"] if s["txn"] == row["txn"]]
    if not sends:
        return False
    draw.choice(sends)["outcome"] = "fail"
    return True


def _other_transaction(world: World, draw: Random, row: Row) -> bool:
    others = [t["txn"] for t in world.rows["txns"] if t["txn"] != row["txn"]]
    if not others:
        return False
    row["txn"] = draw.choice([*others, None])
    return True


def _committed_late(world: World, draw: Random, row: Row) -> None:
    row["commit_called_at"] = draw.choice((None, row["commit_called_at"] + 1_000))


def _begun_late(world: World, draw: Random, row: Row) -> None:
    row["began_at"] += draw.randint(1, 20)


MUTATIONS: Final[tuple[Mutation, ...]] = (
    mutation("acknowledged, they say", "lost-write", "sends", _told("outcome", "ok"),
          _is("outcome", "info", "fail")),
    mutation("refused, they say", "duplicate", "sends", _told("outcome", "fail"),
          _is("outcome", "ok", "info"), "aborted-read torn-transaction"),
    mutation("never returned", None, "sends", _told("outcome", "info"),
          _is("outcome", "ok", "fail")),
    mutation("aborted, they say", "duplicate", "txns", _told("outcome", "aborted"),
          _is("outcome", "committed", "info"), "aborted-read torn-transaction"),
    mutation("committed, they say", "lost-write", "txns", _told("outcome", "committed"),
          _is("outcome", "aborted", "info")),
    mutation("in doubt", None, "txns", _told("outcome", "info"),
          _is("outcome", "committed", "aborted")),
    mutation("committed with a failed send", "torn-transaction", "txns", _in_committed,
          _is("outcome", "committed"), "duplicate aborted-read"),
    mutation("in another transaction", None, "sends", _other_transaction,
          lambda row: row["txn"] is not None),
    mutation("commit called late", "precommitted-read", "txns", _committed_late,
          lambda row: row["commit_called_at"] is not None),
    mutation("begun late", None, "txns", _begun_late),
)  # fmt: skip
