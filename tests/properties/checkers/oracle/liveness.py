"""no-progress, hanging-transaction and unseen: missing progress in the run as a whole."""

from __future__ import annotations

from collections.abc import Iterator

from tests.properties.checkers.oracle.hits import Hit
from tests.properties.checkers.oracle.past import Past
from tests.properties.checkers.world.rows import Rows


def no_progress(rows: Rows) -> Iterator[Hit]:
    for p in rows["phases"]:
        if p["outcome"] == "stalled":
            yield Hit((p["phase"],), p)


def hanging_transaction(rows: Rows) -> Iterator[Hit]:
    settled = not rows["phases"] or any(
        p["phase"] == "settle" and p["outcome"] in ("ok", "stalled") for p in rows["phases"]
    )
    for p in rows["partitions"]:
        if settled and p["last_stable_offset"] < p["high_watermark"]:
            yield Hit((p["topic"], p["partition"]), p)


def unseen(rows: Rows) -> Iterator[Hit]:
    for a in rows["assignments"]:
        past = Past(rows, a["topic"])
        if not past.complete or a["until_at"] is not None:
            continue
        session = (a["reader"], a["session"])
        read_offsets = {
            r["offset"]
            for r in past.reads
            if (r["reader"], r["session"]) == session and r["partition"] == a["partition"]
        }
        for e in past.committed:
            send = past.named(e)
            sends = [send] if send is not None else past.sends_of(e["record"])
            was_expected = e["partition"] == a["partition"] and e["offset"] >= a["position"]
            acknowledged = any(s["outcome"] == "ok" for s in sends)
            if was_expected and acknowledged and e["offset"] not in read_offsets:
                yield Hit((*session, a["topic"], a["partition"], e["offset"]), e)
