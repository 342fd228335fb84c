"""inconsistent-offsets and reordered-send: which record is at which position."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from tests.properties.checkers.oracle.hits import Hit
from tests.properties.checkers.oracle.past import Past
from tests.properties.checkers.world.rows import Row


def inconsistent_offsets(past: Past) -> Iterator[Hit]:
    seen: dict[tuple[int, int], list[Row]] = defaultdict(list)
    for e in past.entries:
        observation = {"source": "log", "who": None, "record": e["record"]}
        seen[e["partition"], e["offset"]].append(observation)
    for s in past.sends:
        if s["outcome"] == "ok" and None not in (s["partition"], s["offset"]) and s["offset"] >= 0:
            observation = {"source": "send", "who": s["attempt"], "record": s["record"]}
            seen[s["partition"], s["offset"]].append(observation)
    for r in past.reads:
        if r["record"] is not None:
            observation = {"source": "read", "who": r["reader"], "record": r["record"]}
            seen[r["partition"], r["offset"]].append(observation)
    for place, observations in seen.items():
        if len({o["record"] for o in observations}) > 1:
            for observation in observations:
                yield Hit((past.topic, *place), observation)


def first_offset(past: Past, send: Row, partition: int) -> int | None:
    """The offset of an attempt's first committed entry in a partition."""
    offsets = [
        e["offset"]
        for e in past.committed
        if e["partition"] == partition and past.sender(e) is send
    ]
    return min(offsets, default=None)


def reordered_send(past: Past) -> Iterator[Hit]:
    for partition in {e["partition"] for e in past.committed}:
        for session in {s["session"] for s in past.sends}:
            highest: tuple[int, str] | None = None
            session_sends = [s for s in past.sends if s["session"] == session]
            for send in sorted(session_sends, key=lambda s: int(s["ordinal"])):
                offset = first_offset(past, send, partition)
                if offset is None:
                    continue
                if highest is not None and offset < highest[0]:
                    key = (past.topic, partition, session, send["attempt"])
                    previous = {"after_attempt": highest[1], "after_offset": highest[0]}
                    yield Hit(key, {**send, "offset": offset, **previous})
                if highest is None or offset > highest[0]:
                    highest = (offset, send["attempt"])
