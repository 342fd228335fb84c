"""Something is not there that should be."""

from __future__ import annotations

from random import Random
from typing import Final

from tests.properties.checkers.mutating.base import (
    NO_SEND,
    Change,
    Mutation,
    committed,
    mutation,
    remove,
)
from tests.properties.checkers.world import Row, World


def _from(table: str) -> Change:
    def change(world: World, draw: Random, row: Row) -> None:
        remove(world, table, row)

    return change


def _batch(world: World, draw: Random, row: Row) -> None:
    """Everything that the micro-batch of this effect wrote."""
    mine = (row["sink"], row["view"], row["batch"])
    world.rows["effects"][:] = [
        e for e in world.rows["effects"] if (e["sink"], e["view"], e["batch"]) != mine
    ]


def _from_one_output(world: World, draw: Random, row: Row) -> bool:
    """All effects of its record there; other outputs keep theirs."""
    if not any(t.others and (t.sink, t.view) == (row["sink"], row["view"]) for t in world.trials):
        return False
    mine = (row["sink"], row["view"], row["record"])
    world.rows["effects"][:] = [
        e for e in world.rows["effects"] if (e["sink"], e["view"], e["record"]) != mine
    ]
    return True


MUTATIONS: Final[tuple[Mutation, ...]] = (
    mutation("entry dropped", "lost-write", "log", _from("log"), committed),
    mutation("any entry dropped", None, "log", _from("log")),
    mutation("send dropped", "phantom", "sends", _from("sends"), also=NO_SEND),
    mutation("transaction dropped", None, "txns", _from("txns")),
    mutation("effect dropped", "lost-output", "effects", _from("effects")),
    mutation("effects of a batch dropped", "lost-output", "effects", _batch),
    mutation("output torn", "torn-output", "effects", _from_one_output),
    mutation("change dropped", "lost-output", "journal", _from("journal")),
    mutation("state dropped", "state-mismatch", "state", _from("state")),
    mutation(
        "contribution dropped",
        "state-mismatch",
        "contributions",
        _from("contributions"),
        also="lost-output",
    ),
    mutation("expected effect dropped", "wrong-output", "expected", _from("expected")),
    mutation("position dropped", None, "positions", _from("positions")),
    mutation("read dropped", "skipped-read", "reads", _from("reads")),
    mutation("assignment dropped", None, "assignments", _from("assignments")),
    mutation("staged position dropped", None, "staged", _from("staged")),
    mutation("instance dropped", None, "instances", _from("instances")),
    mutation("partition dropped", None, "partitions", _from("partitions")),
)
