"""Something has another content, identity or owner."""

from __future__ import annotations

from random import Random
from typing import Any, Final

from tests.properties.checkers.world import Row, World
from tests.properties.checkers.wounding.base import (
    NO_SEND,
    Change,
    Wound,
    committed,
    data,
    wound,
)


def _to(column: str, *values: Any) -> Change:
    def change(world: World, draw: Random, row: Row) -> bool:
        others = [value for value in values if value != row[column]]
        if not others:
            return False
        row[column] = draw.choice(others)
        return True

    return change


def _other_record(table: str) -> Change:
    """The identity of another record, or of one that there is not."""

    def change(world: World, draw: Random, row: Row) -> None:
        known = {s["record"] for s in world.rows["sends"]} - {row["record"]}
        row["record"] = draw.choice([*sorted(known), "x"])

    return change


def _sibling(world: World, draw: Random, row: Row) -> bool:
    """The content of another effect under the same key."""
    mine = (row["sink"], row["record"], row["effect_key"])
    others = [
        x["digest"]
        for x in world.rows["expected"]
        if (x["sink"], x["record"], x["effect_key"]) == mine and x["digest"] != row["digest"]
    ]
    if not others:
        return False
    row["digest"] = draw.choice(others)
    return True


def _acknowledged(row: Row) -> bool:
    return row["outcome"] == "ok" and row["offset"] is not None


def _off_by_one(world: World, draw: Random, row: Row) -> None:
    row["offset"] += draw.choice((-1, 1))


WOUNDS: Final[tuple[Wound, ...]] = (
    wound("entry's digest altered", "corrupt", "log", _to("digest", "altered"), data),
    wound("entry's key altered", "corrupt", "log", _to("key", "altered"), data),
    wound("entry's content unknown", None, "log", _to("digest", None), data),
    wound("entry renamed", "phantom", "log", _other_record("log"), data,
          "lost-write duplicate corrupt inconsistent-offsets reordered-send"),
    wound("entry's attempt unknown", None, "log", _to("attempt", None, "?"), committed),
    wound("entry unreadable", "lost-write", "log", _to("record", None), committed),
    wound("acknowledged elsewhere", "inconsistent-offsets", "sends", _off_by_one, _acknowledged,
          "lost-write"),
    wound("acknowledged in another partition", "corrupt", "sends", _to("partition", 0, 1, 2, 3),
          _acknowledged, "inconsistent-offsets"),
    wound("sent to another topic", "corrupt", "sends", _to("topic", "elsewhere"),
          also="duplicate aborted-read precommitted-read reordered-send G1c"),
    wound("send renamed", "phantom", "sends", _other_record("sends"),
          also=NO_SEND + " inconsistent-offsets"),
    wound("read something else", "inconsistent-offsets", "reads", _other_record("reads"),
          also="precommitted-read aborted-read G1c"),
    wound("read by nobody's attempt", None, "reads", _to("attempt", None, "?")),
    wound("effect altered", "wrong-output", "effects", _to("digest", "altered")),
    wound("effect like its sibling", "wrong-output", "effects", _sibling),
    wound("effect's key altered", "wrong-output", "effects", _to("effect_key", "", "a", "b", "?")),
    wound("effect renamed", "phantom-output", "effects", _other_record("effects"),
          also="lost-output unfounded-output wrong-output reordered-output"),
    wound("effect of nobody", "phantom-output", "effects", _to("record", "x"),
          also="lost-output"),
    wound("effect's owner unknown", None, "effects", _to("owner", None, "another")),
    wound("effect in another sink", "lost-output", "effects", _to("sink", "nowhere")),
    wound("change altered", "wrong-output", "journal", _to("digest", "altered", None)),
    wound("change of another kind", None, "journal",
          _to("operation", "append", "upsert", "delete")),
    wound("change renamed", "phantom-output", "journal", _other_record("journal"),
          also="lost-output unfounded-output wrong-output reordered-output"),
    wound("expected optional", None, "expected", _to("optional", True, False)),
    wound("expected altered", "wrong-output", "expected", _to("digest", "altered")),
)  # fmt: skip
