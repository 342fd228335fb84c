"""Something is not there that should be."""

from __future__ import annotations

from random import Random
from typing import Final

from tests.properties.checkers.world import Row, World
from tests.properties.checkers.wounding.base import (
    NO_SEND,
    Change,
    Wound,
    committed,
    remove,
    wound,
)


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


WOUNDS: Final[tuple[Wound, ...]] = (
    wound("entry dropped", "lost-write", "log", _from("log"), committed),
    wound("any entry dropped", None, "log", _from("log")),
    wound("send dropped", "phantom", "sends", _from("sends"), also=NO_SEND),
    wound("transaction dropped", None, "txns", _from("txns")),
    wound("effect dropped", "lost-output", "effects", _from("effects")),
    wound("effects of a batch dropped", "lost-output", "effects", _batch),
    wound("change dropped", "lost-output", "journal", _from("journal")),
    wound("state dropped", "state-mismatch", "state", _from("state")),
    wound(
        "contribution dropped",
        "state-mismatch",
        "contributions",
        _from("contributions"),
        also="lost-output",
    ),
    wound("expected effect dropped", "wrong-output", "expected", _from("expected")),
    wound("position dropped", None, "positions", _from("positions")),
    wound("read dropped", "skipped-read", "reads", _from("reads")),
    wound("assignment dropped", None, "assignments", _from("assignments")),
    wound("staged position dropped", None, "staged", _from("staged")),
    wound("instance dropped", None, "instances", _from("instances")),
    wound("partition dropped", None, "partitions", _from("partitions")),
)
