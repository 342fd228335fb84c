"""Commits apply only to part of a transaction."""

from __future__ import annotations

from random import Random
from typing import Final

from tests.properties.checkers.mutating.base import Mutation, committed, data, mutation, remove
from tests.properties.checkers.world import Row, World


def _uncommit(world: World, draw: Random, row: Row) -> None:
    row["committed"] = False


def _commit(world: World, draw: Random, row: Row) -> None:
    row["committed"] = True


def _sends_with(world: World, row: Row) -> list[Row]:
    """Acknowledged sends of the same transaction."""
    return [s for s in world.rows["sends"] if s["txn"] == row["txn"] and s["outcome"] == "ok"]


def _entry_of(world: World, send: Row) -> Row | None:
    return next(
        (
            e
            for e in world.rows["log"]
            if data(e) and (e["topic"], e["record"]) == (send["topic"], send["record"])
            and e["attempt"] in (None, send["attempt"])
        ),
        None,
    )  # fmt: skip


def _tear(world: World, draw: Random, row: Row) -> bool:
    """One of its entries differs from the others: committed, uncommitted or missing."""
    entries = [e for s in _sends_with(world, row) if (e := _entry_of(world, s)) is not None]
    if len(entries) < 2:
        return False
    entry = draw.choice(entries)
    if draw.random() < 0.5:
        entry["committed"] = not entry["committed"]
    elif entry["committed"]:
        remove(world, "log", entry)
    return True


def _without_positions(world: World, draw: Random, row: Row) -> bool:
    """The position that the transaction staged, and all later ones, were never committed."""
    place = (row["owner"], row["topic"], row["partition"])
    dropped = [
        p
        for p in world.rows["positions"]
        if (p["owner"], p["topic"], p["partition"]) == place and p["offset"] >= row["offset"]
    ]
    for p in dropped:
        remove(world, "positions", p)
    return bool(dropped)


def _position_committed(world: World, draw: Random, row: Row) -> None:
    """The staged position was committed whatever the outcome of the transaction."""
    last = max((p["ordinal"] for p in world.rows["positions"]), default=0)
    world.rows["positions"].append(
        {**dict.fromkeys(("instance", "sink", "batch", "at", "clock")), "ordinal": last + 1,
         "role": "resume", "kind": "done", "by": "subject",
         **{name: row[name] for name in ("owner", "topic", "partition", "offset")}}
    )  # fmt: skip


def _other_position_staged(world: World, draw: Random, row: Row) -> None:
    row["offset"] += draw.choice((-1, 1, 5))


MUTATIONS: Final[tuple[Mutation, ...]] = (
    mutation("entry uncommitted", "lost-write", "log", _uncommit, committed, "aborted-read"),
    mutation("aborted entry committed", "duplicate", "log", _commit,
          lambda row: data(row) and not row["committed"],
          "lost-write torn-transaction unseen skipped-read"),
    mutation("transaction half committed", "torn-transaction", "sends", _tear,
          lambda row: row["txn"] is not None,
          "lost-write duplicate aborted-read skipped-read unseen"),
    mutation("records without positions", "torn-transaction", "staged", _without_positions),
    mutation("positions without records", "torn-transaction", "staged", _position_committed,
          also="offset-regressed"),
    mutation("another position staged", None, "staged", _other_position_staged),
)  # fmt: skip
