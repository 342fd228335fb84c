"""A row is missing."""

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


def _drop_from(table: str) -> Change:
    def change(world: World, draw: Random, row: Row) -> None:
        remove(world, table, row)

    return change


def _batch(world: World, draw: Random, row: Row) -> None:
    """All effects of the micro-batch that wrote this one."""
    batch = (row["sink"], row["view"], row["batch"])
    world.rows["effects"][:] = [
        e for e in world.rows["effects"] if (e["sink"], e["view"], e["batch"]) != batch
    ]


def _from_one_output(world: World, draw: Random, row: Row) -> bool:
    """All effects of the record in one of several atomic outputs."""
    if not any(t.others and (t.sink, t.view) == (row["sink"], row["view"]) for t in world.trials):
        return False
    output_record = (row["sink"], row["view"], row["record"])
    world.rows["effects"][:] = [
        e for e in world.rows["effects"] if (e["sink"], e["view"], e["record"]) != output_record
    ]
    return True


MUTATIONS: Final[tuple[Mutation, ...]] = (
    mutation("entry dropped", "lost-write", "log", _drop_from("log"), committed),
    mutation("any entry dropped", None, "log", _drop_from("log")),
    mutation("send dropped", "phantom", "sends", _drop_from("sends"), also=NO_SEND),
    mutation("transaction dropped", None, "txns", _drop_from("txns")),
    mutation("effect dropped", "lost-output", "effects", _drop_from("effects")),
    mutation("effects of a batch dropped", "lost-output", "effects", _batch),
    mutation("output torn", "torn-output", "effects", _from_one_output),
    mutation("change dropped", "lost-output", "journal", _drop_from("journal")),
    mutation("state dropped", "state-mismatch", "state", _drop_from("state")),
    mutation(
        "contribution dropped",
        "state-mismatch",
        "contributions",
        _drop_from("contributions"),
        also="lost-output",
    ),
    mutation("expected effect dropped", "wrong-output", "expected", _drop_from("expected")),
    mutation("position dropped", None, "positions", _drop_from("positions")),
    mutation("read dropped", "skipped-read", "reads", _drop_from("reads")),
    mutation("assignment dropped", None, "assignments", _drop_from("assignments")),
    mutation("staged position dropped", None, "staged", _drop_from("staged")),
    mutation("instance dropped", None, "instances", _drop_from("instances")),
    mutation("partition dropped", None, "partitions", _drop_from("partitions")),
)
