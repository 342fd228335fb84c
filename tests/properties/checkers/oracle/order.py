"""reordered-output and zombie-write: the order and the writer of effects."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from tests.properties.checkers.oracle.hits import Hit
from tests.properties.checkers.oracle.stretch import LETTER, Stretch
from tests.properties.checkers.world.rows import Row


def reordered_output(s: Stretch) -> Iterator[Hit]:
    """Only the first effect of each input counts."""
    first: dict[tuple[int, int], int] = {}
    by_key: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for effect in s.effects:
        for e in s.inputs(effect):
            if effect["effect_key"] == LETTER or e["key"] is None:
                continue
            place = (e["partition"], e["offset"])
            if place not in first:
                by_key[e["key"], e["partition"]].append(e)
            first[place] = min(first.get(place, effect["ordinal"]), effect["ordinal"])
    for (key, partition), entries in by_key.items():
        entries.sort(key=lambda e: int(e["offset"]))
        for number, e in enumerate(entries):
            ordinal = first[partition, e["offset"]]
            before = [(first[partition, b["offset"]], b["offset"]) for b in entries[:number]]
            if before and ordinal < max(other for other, _ in before):
                after, offset = max(before, key=lambda b: (b[0], -b[1]))
                row = {"record": e["record"], "ordinal": ordinal}
                row |= {"after_offset": offset, "after_ordinal": after}
                yield Hit((*s.name, key, partition, e["offset"]), row)


def zombie_write(s: Stretch) -> Iterator[Hit]:
    """An effect written after a later instance of the same process had started."""
    instances = s.rows["instances"]
    for effect in s.effects:
        writer = next((i for i in instances if i["instance"] == effect["instance"]), None)
        if writer is None or effect["at"] is None or effect["clock"] != writer["clock"]:
            continue
        successors = [
            j
            for j in instances
            if j["subject"] == writer["subject"]
            and j["clock"] == writer["clock"]
            and writer["started_at"] < j["started_at"] <= effect["at"]
        ]
        if successors:
            next_one = min(successors, key=lambda j: (j["started_at"], j["instance"]))
            row = {**effect, "successor": next_one["instance"]}
            yield Hit((*s.name, effect["record"], effect["effect_key"]), row)
