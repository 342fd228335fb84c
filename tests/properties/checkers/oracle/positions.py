"""offset-ahead, offset-behind, offset-regressed and offset-gap: errors in recorded positions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from tests.properties.checkers.oracle.hits import Hit
from tests.properties.checkers.oracle.stretch import LETTER, Slot, Stretch
from tests.properties.checkers.world.rows import Row


def foreign_owners(s: Stretch) -> set[str]:
    """Owners known to write only to sinks other than this one and its dead letters."""
    tables = (*s.rows["effects"], *s.rows["journal"], *s.rows["positions"])
    rows = [r for r in tables if r["owner"] and r["sink"]]
    sinks = (s.trial.sink, s.trial.dead_letters)
    return {r["owner"] for r in rows} - {r["owner"] for r in rows if r["sink"] in sinks}


def done(s: Stretch) -> dict[tuple[Any, ...], list[Row]]:
    """(owner, role, sink, partition) → completed positions in order."""
    found = defaultdict(list)
    foreign = foreign_owners(s)
    for p in s.rows["positions"]:
        judged = p["kind"] == "done" and p["role"] in ("atomic", "resume")
        on_trial = p["topic"] == s.topic and p["sink"] in (None, s.trial.sink)
        if judged and on_trial and p["owner"] not in foreign:
            found[p["owner"], p["role"], p["sink"], p["partition"]].append(p)
    return {k: sorted(v, key=lambda p: (p["ordinal"], p["offset"])) for k, v in found.items()}


def newest(s: Stretch, role: str) -> list[Row]:
    """Each owner's latest position in each partition, unless the harness set it."""
    last = [(key, rows[-1]) for key, rows in done(s).items()]
    return [p for (_, r, _, _), p in last if r == role and p["by"] == "subject"]


def offset_ahead(s: Stretch) -> Iterator[Hit]:
    resume = newest(s, "resume")
    for slot in s.slots:
        if slot.seen >= slot.due:
            continue
        for owner in {p["owner"] for p in resume}:
            passed = [
                (e, p)
                for p in resume
                for e in s.committed
                if p["owner"] == owner
                and e["record"] == slot.record
                and slot.place in (None, (e["partition"], e["offset"]))
                and p["partition"] == e["partition"]
                and e["offset"] < p["offset"]
                and s.readable(e["partition"], e["offset"])
                and e["lateness"] is None
            ]
            if _due(s, slot, [e for e, _ in passed]) > slot.seen:
                for e, p in passed:
                    key = (*s.name, owner, s.topic, e["partition"])
                    row = {"record": slot.record, "effect_key": slot.effect_key}
                    yield Hit(key, {**row, "offset": e["offset"], "position": p["offset"]})


def _due(s: Stretch, slot: Slot, entries: list[Row]) -> int:
    """The number of effects that these positions alone require."""
    letters = sum(
        1
        for e in s.effects
        if (e["record"], e["effect_key"], s.place(e)) == (slot.record, LETTER, slot.place)
    )
    certain = [
        x for x in s.yields(slot.record) if x["effect_key"] == slot.effect_key and not x["optional"]
    ]
    return len(certain) * max(0, s.times(entries) - letters)


def offset_behind(s: Stretch) -> Iterator[Hit]:
    if not s.collected:
        return
    atomic = newest(s, "atomic")
    for p in atomic:
        rivals = [q for q in atomic if q["partition"] == p["partition"]]
        first = min(rivals, key=lambda q: (-q["offset"], q["owner"]))
        for effect in s.effects:
            if effect["owner"] != p["owner"] and (effect["owner"] is not None or p is not first):
                continue
            for e in s.inputs(effect):
                if e["partition"] == p["partition"] and e["offset"] >= p["offset"]:
                    key = (*s.name, p["owner"], s.topic, p["partition"])
                    row = {"record": e["record"], "effect_key": effect["effect_key"]}
                    row |= {"offset": e["offset"], "position": p["offset"]}
                    yield Hit(key, {**row, "effect_position": effect["position"]})


def offset_regressed(s: Stretch) -> Iterator[Hit]:
    for (owner, role, _, partition), rows in done(s).items():
        for before, after in pairwise(rows):
            if after["offset"] < before["offset"] and after["by"] == "subject":
                key = (*s.name, owner, role, s.topic, partition, after["ordinal"])
                yield Hit(key, {"previous": before["offset"], "position": after["offset"]})


def offset_gap(s: Stretch) -> Iterator[Hit]:
    by_partition = defaultdict(list)
    foreign = foreign_owners(s)
    for r in s.rows["ranges"]:
        if r["committed"] and r["topic"] == s.topic and r["owner"] not in foreign:
            by_partition[r["owner"], r["partition"]].append(r)
    for (owner, partition), rows in by_partition.items():
        order = ("batch", "start_offset", "end_offset", "execution")
        rows.sort(key=lambda r: [r[name] for name in order])
        reached = rows[0]["end_offset"]
        log_start = s.cut[partition]["log_start"] if partition in s.cut else 0
        for r in rows[1:]:
            start = r["start_offset"]
            key = (*s.name, owner, s.topic, partition, r["batch"])
            if start > reached and start > log_start:
                yield Hit(("gap", *key), {**r, "reached": reached})
            elif start < reached:
                yield Hit(("overlap", *key), {**r, "reached": reached})
            reached = max(reached, r["end_offset"])
