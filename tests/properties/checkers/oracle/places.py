"""inconsistent-offsets and reordered-send: which record stands where in a partition."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from tests.properties.checkers.oracle.hits import Hit
from tests.properties.checkers.oracle.past import Past
from tests.properties.checkers.world.rows import Row


def inconsistent_offsets(past: Past) -> Iterator[Hit]:
    seen: dict[tuple[int, int], list[Row]] = defaultdict(list)
    for e in past.entries:
        what = {"source": "log", "who": None, "record": e["record"]}
        seen[e["partition"], e["offset"]].append(what)
    for s in past.sends:
        if s["outcome"] == "ok" and None not in (s["partition"], s["offset"]) and s["offset"] >= 0:
            what = {"source": "send", "who": s["attempt"], "record": s["record"]}
            seen[s["partition"], s["offset"]].append(what)
    for r in past.reads:
        if r["record"] is not None:
            what = {"source": "read", "who": r["reader"], "record": r["record"]}
            seen[r["partition"], r["offset"]].append(what)
    for place, observations in seen.items():
        if len({o["record"] for o in observations}) > 1:
            for what in observations:
                yield Hit((past.topic, *place), what)


def place_of(past: Past, send: Row, partition: int) -> int | None:
    """Where an attempt is in a partition: its first committed entry there."""
    offsets = [
        e["offset"]
        for e in past.committed
        if e["partition"] == partition and past.sender(e) is send
    ]
    return min(offsets, default=None)


def reordered_send(past: Past) -> Iterator[Hit]:
    for partition in {e["partition"] for e in past.committed}:
        for session in {s["session"] for s in past.sends}:
            before: tuple[int, str] | None = None
            mine = [s for s in past.sends if s["session"] == session]
            for send in sorted(mine, key=lambda s: int(s["ordinal"])):
                offset = place_of(past, send, partition)
                if offset is None:
                    continue
                if before is not None and offset < before[0]:
                    key = (past.topic, partition, session, send["attempt"])
                    after = {"after_attempt": before[1], "after_offset": before[0]}
                    yield Hit(key, {**send, "offset": offset, **after})
                if before is None or offset > before[0]:
                    before = (offset, send["attempt"])
