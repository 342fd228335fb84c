"""lost-write, duplicate, phantom, corrupt: what was sent against what is in the log."""

from __future__ import annotations

from collections.abc import Iterator

from tests.properties.checkers.oracle.hits import Hit
from tests.properties.checkers.oracle.past import Past
from tests.properties.checkers.world.rows import Row


def account(past: Past, record: str) -> tuple[dict[str, list[Row]], list[Row]]:
    """Committed entries of a record: those of each attempt, and those of nobody in particular."""
    per: dict[str, list[Row]] = {s["attempt"]: [] for s in past.sends_of(record)}
    nobodys = []
    for entry in past.committed:
        if entry["record"] == record:
            send = past.named(entry)
            if send is None:
                nobodys.append(entry)
            else:
                per[send["attempt"]].append(entry)
    return per, nobodys


def lost_write(past: Past) -> Iterator[Hit]:
    for record in {s["record"] for s in past.sends}:
        per, nobodys = account(past, record)
        must = [s for s in past.sends_of(record) if past.must(s)]
        missing = [s for s in must if not per[s["attempt"]] and not past.gone(s)]
        if len(missing) > len(nobodys):
            positions = sum(map(len, per.values())) + len(nobodys)
            for send in missing:
                row = {"attempt": send["attempt"], "sends": len(must), "positions": positions}
                yield Hit((past.topic, record), row)


def duplicate(past: Past) -> Iterator[Hit]:
    for record in {s["record"] for s in past.sends}:
        per, nobodys = account(past, record)
        may = [s for s in past.sends_of(record) if past.may(s)]
        free = [s for s in may if not per[s["attempt"]]]
        extra = list(nobodys) if len(nobodys) > len(free) else []
        for send in past.sends_of(record):
            if len(per[send["attempt"]]) > (1 if send in may else 0):
                extra += per[send["attempt"]]
        positions = sum(map(len, per.values())) + len(nobodys)
        for entry in extra:
            yield Hit((past.topic, record), {**entry, "may": len(may), "positions": positions})


def phantom(past: Past) -> Iterator[Hit]:
    for entry in past.entries:
        if past.sends and entry["record"] not in past.sent_anywhere:
            yield Hit((past.topic, entry["record"]), entry)
    for read in past.reads:
        send = past.named(read)
        sends = [send] if send else [s for s in past.rows["sends"] if s["record"] == read["record"]]
        if sends and all(
            s["clock"] == read["clock"] and s["called_at"] > read["at"] for s in sends
        ):
            yield Hit((past.topic, read["record"]), read)


def corrupt(past: Past) -> Iterator[Hit]:
    for entry in past.entries:
        if is_corrupt(past, entry):
            yield Hit((past.topic, entry["record"]), entry)


def is_corrupt(past: Past, entry: Row) -> bool:
    """Whether an entry fits no attempt to send its record."""
    sends = candidates(past, entry)
    return bool(sends) and all(differs(past, send, entry) for send in sends)


def candidates(past: Past, entry: Row) -> list[Row]:
    """The attempts that an entry is compared with: the one that it carries, else any."""
    same = [s for s in past.rows["sends"] if s["record"] == entry["record"]]
    return [s for s in same if s["attempt"] == entry["attempt"]] or same


def differs(past: Past, send: Row, entry: Row) -> bool:
    for column in ("key", "digest"):
        if None not in (send[column], entry[column]) and send[column] != entry[column]:
            return True
    if send["topic"] != past.topic:
        return True
    at_home = any(
        e["committed"] and e["partition"] == send["partition"] and send in candidates(past, e)
        for e in past.entries
    )
    return (
        send["outcome"] == "ok"
        and send["partition"] is not None
        and send["partition"] != entry["partition"]
        and not at_home
    )
