"""Transactions read each other in an impossible order."""

from __future__ import annotations

from random import Random
from typing import Final

from tests.properties.checkers.mutating.base import Mutation, append, choose
from tests.properties.checkers.world import Row, World, new


def _committed_sends(world: World) -> dict[str, list[Row]]:
    """Committed transaction → its sends with an entry known to be theirs."""
    committed = {t["txn"] for t in world.rows["txns"] if t["outcome"] == "committed"}
    found: dict[str, list[Row]] = {}
    for send in world.rows["sends"]:
        if send["txn"] in committed and send["outcome"] == "ok" and send["offset"] is not None:
            found.setdefault(send["txn"], []).append(send)
    return found


def _reads(world: World, txn: str, send: Row) -> None:
    """A transaction reads a record that another one sent."""
    world.rows["reads"].append(
        new("reads", reader="inside", session=f"inside/{txn}/{len(world.rows['reads'])}",
            ordinal=len(world.rows["reads"]), isolation="read_committed", topic=send["topic"],
            partition=send["partition"], offset=send["offset"], record=send["record"],
            attempt=send["attempt"], txn=txn, at=10_000, clock="clock")
    )  # fmt: skip


def _read_cycle(world: World, draw: Random) -> str | None:
    """Two or three transactions each read from the next."""
    sends = _committed_sends(world)
    if len(sends) < 2:
        return None
    cycle = draw.sample(sorted(sends), min(len(sends), draw.choice((2, 2, 3))))
    for txn, after in zip(cycle, [*cycle[1:], cycle[0]], strict=True):
        _reads(world, txn, draw.choice(sends[after]))
    return f"{len(cycle)} transactions"


def _read_from_later_txn(world: World, draw: Random) -> str | None:
    """A transaction reads from one that began after it had ended."""
    sends = _committed_sends(world)
    txns = {t["txn"]: t for t in world.rows["txns"]}
    pairs = [
        (txns[a], txns[b])
        for a in sends
        for b in sends
        if txns[a]["ended_at"] is not None and txns[a]["ended_at"] < txns[b]["began_at"]
    ]
    if not pairs:
        return None
    chosen = choose(world, draw, [{"pair": pair} for pair in pairs])
    assert chosen is not None
    before, after = chosen[0]["pair"]
    _reads(world, before["txn"], draw.choice(sends[after["txn"]]))
    return "same session" if before["session"] == after["session"] else "other session"


def _read_of_later_write(world: World, draw: Random) -> str | None:
    """A transaction reads a later write of another one in a partition to which it wrote."""
    sends = _committed_sends(world)
    pairs = [
        (a, b)
        for own_sends in sends.values()
        for a in own_sends
        for other_sends in sends.values()
        for b in other_sends
        if a["txn"] != b["txn"]
        and (a["topic"], a["partition"]) == (b["topic"], b["partition"])
        and a["offset"] < b["offset"]
    ]
    if not pairs:
        return None
    first, second = draw.choice(pairs)
    _reads(world, first["txn"], second)
    return "write before write"


def _interleaved(world: World, draw: Random) -> str | None:
    """Two transactions write alternately to a partition, which Kafka allows."""
    sends = _committed_sends(world)
    if len(sends) < 2:
        return None
    first, second = (draw.choice(sends[txn]) for txn in draw.sample(sorted(sends), 2))
    place = {name: first[name] for name in ("topic", "partition")}
    for model in (first, second, first):
        number = len(world.rows["sends"])
        named = {"record": f"turn {number}", "attempt": f"turn/{number}"}
        content = {name: model[name] for name in ("key", "digest")}
        entry = append(
            world, new("log", **place, **named, **content, kind="data", committed=True, offset=0)
        )
        position = {**place, **named, "offset": entry["offset"], "ordinal": 1_000 + number}
        world.rows["sends"].append({**model, **position})
    return "interleaved writes"


MUTATIONS: Final[tuple[Mutation, ...]] = (
    Mutation(name="cycle of reads", means="G1c", make=_read_cycle),
    Mutation(
        name="read from the future",
        means="G1c-realtime",
        make=_read_from_later_txn,
        also=frozenset({"G1c", "G1c-process", "G1c-ww"}),
    ),
    Mutation(
        name="interleaved writes",
        means="G0",
        make=_interleaved,
        also=frozenset({"lost-output", "unseen", "inconsistent-offsets"}),
    ),
    Mutation(
        name="read of a later write",
        means="G1c-ww",
        make=_read_of_later_write,
        also=frozenset({"G1c", "G1c-process", "G1c-realtime"}),
    ),
)
