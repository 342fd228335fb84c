"""reordered-output and zombie-write: when effects came, and by whom."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from tests.properties.checkers.oracle.hits import Hit
from tests.properties.checkers.oracle.stretch import LETTER, Stretch
from tests.properties.checkers.world.rows import Row


def reordered_output(s: Stretch) -> Iterator[Hit]:
    """Of each input, its first effect counts."""
    first: dict[tuple[int, int], int] = {}
    ways: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for effect in s.effects:
        for e in s.inputs(effect):
            if effect["effect_key"] == LETTER or e["key"] is None:
                continue
            place = (e["partition"], e["offset"])
            if place not in first:
                ways[e["key"], e["partition"]].append(e)
            first[place] = min(first.get(place, effect["ordinal"]), effect["ordinal"])
    for (key, partition), entries in ways.items():
        entries.sort(key=lambda e: int(e["offset"]))
        for number, e in enumerate(entries):
            mine = first[partition, e["offset"]]
            before = [(first[partition, b["offset"]], b["offset"]) for b in entries[:number]]
            if before and mine < max(ordinal for ordinal, _ in before):
                after, offset = max(before, key=lambda b: (b[0], -b[1]))
                row = {"record": e["record"], "ordinal": mine}
                row |= {"after_offset": offset, "after_ordinal": after}
                yield Hit((*s.name, key, partition, e["offset"]), row)


def zombie_write(s: Stretch) -> Iterator[Hit]:
    """An effect that was written when a later life of the same process had begun."""
    lives = s.rows["instances"]
    for effect in s.effects:
        mine = next((i for i in lives if i["instance"] == effect["instance"]), None)
        if mine is None or effect["at"] is None or effect["clock"] != mine["clock"]:
            continue
        successors = [
            j
            for j in lives
            if j["subject"] == mine["subject"]
            and j["clock"] == mine["clock"]
            and mine["started_at"] < j["started_at"] <= effect["at"]
        ]
        if successors:
            next_one = min(successors, key=lambda j: (j["started_at"], j["instance"]))
            row = {**effect, "successor": next_one["instance"]}
            yield Hit((*s.name, effect["record"], effect["effect_key"]), row)
