"""The recorded outcome of a send or a transaction is wrong."""

from __future__ import annotations

from random import Random
from typing import Any, Final

from tests.properties.checkers.mutating.base import Change, Mutation, mutation
from tests.properties.checkers.world import Row, World


def _set(column: str, value: Any) -> Change:
    def change(world: World, draw: Random, row: Row) -> None:
        row[column] = value

    return change


def _has(column: str, *values: str) -> Any:
    return lambda row: row[column] in values


def _failed_send(world: World, draw: Random, row: Row) -> bool:
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
    mutation("recorded as acknowledged", "lost-write", "sends", _set("outcome", "ok"),
          _has("outcome", "info", "fail")),
    mutation("recorded as failed", "duplicate", "sends", _set("outcome", "fail"),
          _has("outcome", "ok", "info"), "aborted-read torn-transaction"),
    mutation("recorded as unknown", None, "sends", _set("outcome", "info"),
          _has("outcome", "ok", "fail")),
    mutation("recorded as aborted", "duplicate", "txns", _set("outcome", "aborted"),
          _has("outcome", "committed", "info"), "aborted-read torn-transaction"),
    mutation("recorded as committed", "lost-write", "txns", _set("outcome", "committed"),
          _has("outcome", "aborted", "info")),
    mutation("recorded as in doubt", None, "txns", _set("outcome", "info"),
          _has("outcome", "committed", "aborted")),
    mutation("committed with a failed send", "torn-transaction", "txns", _failed_send,
          _has("outcome", "committed"), "duplicate aborted-read"),
    mutation("in another transaction", None, "sends", _other_transaction,
          lambda row: row["txn"] is not None),
    mutation("commit called late", "precommitted-read", "txns", _committed_late,
          lambda row: row["commit_called_at"] is not None),
    mutation("begun late", None, "txns", _begun_late),
)  # fmt: skip
