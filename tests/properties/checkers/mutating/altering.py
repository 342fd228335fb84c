"""A row has another content, identity or owner."""

from __future__ import annotations

from random import Random
from typing import Any, Final

from tests.properties.checkers.mutating.base import (
    NO_SEND,
    Change,
    Mutation,
    committed,
    data,
    mutation,
)
from tests.properties.checkers.world import Row, World


def _to(column: str, *values: Any) -> Change:
    def change(world: World, draw: Random, row: Row) -> bool:
        others = [value for value in values if value != row[column]]
        if not others:
            return False
        row[column] = draw.choice(others)
        return True

    return change


def _other_record(table: str) -> Change:
    """The identity of another or of an unknown record."""

    def change(world: World, draw: Random, row: Row) -> None:
        known = {s["record"] for s in world.rows["sends"]} - {row["record"]}
        row["record"] = draw.choice([*sorted(known), "x"])

    return change


def _sibling_content(world: World, draw: Random, row: Row) -> bool:
    """The content of another effect with the same key."""
    effect_key = (row["sink"], row["record"], row["effect_key"])
    others = [
        x["digest"]
        for x in world.rows["expected"]
        if (x["sink"], x["record"], x["effect_key"]) == effect_key and x["digest"] != row["digest"]
    ]
    if not others:
        return False
    row["digest"] = draw.choice(others)
    return True


def _acknowledged(row: Row) -> bool:
    return row["outcome"] == "ok" and row["offset"] is not None


def _off_by_one(world: World, draw: Random, row: Row) -> None:
    row["offset"] += draw.choice((-1, 1))


MUTATIONS: Final[tuple[Mutation, ...]] = (
    mutation("entry's digest altered", "corrupt", "log", _to("digest", "altered"), data),
    mutation("entry's key altered", "corrupt", "log", _to("key", "altered"), data),
    mutation("entry's content unknown", None, "log", _to("digest", None), data),
    mutation("entry renamed", "phantom", "log", _other_record("log"), data,
          "lost-write duplicate corrupt inconsistent-offsets reordered-send"),
    mutation("entry's attempt unknown", None, "log", _to("attempt", None, "?"), committed),
    mutation("entry unreadable", "lost-write", "log", _to("record", None), committed),
    mutation("acknowledged at another offset", "inconsistent-offsets", "sends", _off_by_one,
          _acknowledged, "lost-write"),
    mutation("acknowledged in another partition", "corrupt", "sends", _to("partition", 0, 1, 2, 3),
          _acknowledged, "inconsistent-offsets"),
    mutation("sent to another topic", "corrupt", "sends", _to("topic", "elsewhere"),
          also="duplicate aborted-read precommitted-read reordered-send G1c"),
    mutation("send renamed", "phantom", "sends", _other_record("sends"),
          also=NO_SEND + " inconsistent-offsets"),
    mutation("read renamed", "inconsistent-offsets", "reads", _other_record("reads"),
          also="precommitted-read aborted-read G1c"),
    mutation("read's attempt unknown", None, "reads", _to("attempt", None, "?")),
    mutation("effect altered", "wrong-output", "effects", _to("digest", "altered")),
    mutation("effect with a sibling's content", "wrong-output", "effects", _sibling_content),
    mutation("effect's key altered", "wrong-output", "effects",
          _to("effect_key", "", "a", "b", "?")),
    mutation("effect renamed", "phantom-output", "effects", _other_record("effects"),
          also="lost-output unfounded-output wrong-output reordered-output"),
    mutation("effect of an unknown record", "phantom-output", "effects", _to("record", "x"),
          also="lost-output"),
    mutation("effect's owner unknown", None, "effects", _to("owner", None, "another")),
    mutation("effect in another sink", "lost-output", "effects", _to("sink", "nowhere")),
    mutation("change altered", "wrong-output", "journal", _to("digest", "altered", None)),
    mutation("change of another kind", None, "journal",
          _to("operation", "append", "upsert", "delete")),
    mutation("change renamed", "phantom-output", "journal", _other_record("journal"),
          also="lost-output unfounded-output wrong-output reordered-output"),
    mutation("expected optional", None, "expected", _to("optional", True, False)),
    mutation("expected altered", "wrong-output", "expected", _to("digest", "altered")),
)  # fmt: skip
