"""The final state differs from the aggregates of the inputs."""

from __future__ import annotations

from random import Random
from typing import Final

from tests.properties.checkers.mutating.base import Mutation, mutation
from tests.properties.checkers.world import Row, World

_LARGEST = 2**63 - 1


def _amount(world: World, draw: Random, row: Row) -> None:
    delta = draw.choice((-1, 1, 2**40))
    row["amount"] += delta if abs(row["amount"] + delta) <= _LARGEST else -delta


def _digest(world: World, draw: Random, row: Row) -> None:
    others = [
        c["digest"]
        for c in world.rows["contributions"]
        if c["digest"] is not None and c["state_key"] == row["state_key"]
    ]
    row["digest"] = draw.choice([*others, "altered"])


def _unknown(world: World, draw: Random, row: Row) -> None:
    row["amount"] = row["digest"] = None


def _contribution(world: World, draw: Random, row: Row) -> None:
    if row["operation"] == "last":
        row["digest"] = draw.choice((None, "altered"))
    elif row["amount"] is not None:
        row["amount"] = draw.choice((0, 7, _LARGEST, -_LARGEST))


def _contribution_unknown(world: World, draw: Random, row: Row) -> None:
    row["amount"] = None


MUTATIONS: Final[tuple[Mutation, ...]] = (
    mutation("amount altered", "state-mismatch", "state", _amount,
          lambda row: row["amount"] is not None),
    mutation("state's content altered", "state-mismatch", "state", _digest,
          lambda row: row["digest"] is not None),
    mutation("state unknown", None, "state", _unknown),
    mutation("contribution unknown", None, "contributions", _contribution_unknown),
    mutation("contribution altered", "state-mismatch", "contributions", _contribution),
)  # fmt: skip
