"""lost-write, duplicate, phantom and corrupt: sends compared with the log."""

from __future__ import annotations

from collections.abc import Iterator

from tests.properties.checkers.oracle.hits import Hit
from tests.properties.checkers.oracle.past import Past
from tests.properties.checkers.world.rows import Row


def committed_entries(past: Past, record: str) -> tuple[dict[str, list[Row]], list[Row]]:
    """Committed entries of a record by attempt, and those of unknown attempts."""
    by_attempt: dict[str, list[Row]] = {s["attempt"]: [] for s in past.sends_of(record)}
    unattributed = []
    for entry in past.committed:
        if entry["record"] == record:
            send = past.named(entry)
            if send is None:
                unattributed.append(entry)
            else:
                by_attempt[send["attempt"]].append(entry)
    return by_attempt, unattributed


def lost_write(past: Past) -> Iterator[Hit]:
    for record in {s["record"] for s in past.sends}:
        by_attempt, unattributed = committed_entries(past, record)
        required = [s for s in past.sends_of(record) if past.must_exist(s)]
        missing = [
            s for s in required if not by_attempt[s["attempt"]] and not past.may_be_deleted(s)
        ]
        if len(missing) > len(unattributed):
            positions = sum(map(len, by_attempt.values())) + len(unattributed)
            for send in missing:
                row = {"attempt": send["attempt"], "sends": len(required), "positions": positions}
                yield Hit((past.topic, record), row)


def duplicate(past: Past) -> Iterator[Hit]:
    for record in {s["record"] for s in past.sends}:
        by_attempt, unattributed = committed_entries(past, record)
        possible = [s for s in past.sends_of(record) if past.may_exist(s)]
        without_entry = [s for s in possible if not by_attempt[s["attempt"]]]
        extra = list(unattributed) if len(unattributed) > len(without_entry) else []
        for send in past.sends_of(record):
            if len(by_attempt[send["attempt"]]) > (1 if send in possible else 0):
                extra += by_attempt[send["attempt"]]
        positions = sum(map(len, by_attempt.values())) + len(unattributed)
        for entry in extra:
            yield Hit((past.topic, record), {**entry, "may": len(possible), "positions": positions})


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
    """Whether an entry matches no attempt to send its record."""
    sends = candidates(past, entry)
    return bool(sends) and all(differs(past, send, entry) for send in sends)


def candidates(past: Past, entry: Row) -> list[Row]:
    """The attempts that an entry is compared with: the one it carries, otherwise all."""
    same = [s for s in past.rows["sends"] if s["record"] == entry["record"]]
    return [s for s in same if s["attempt"] == entry["attempt"]] or same


def differs(past: Past, send: Row, entry: Row) -> bool:
    for column in ("key", "digest"):
        if None not in (send[column], entry[column]) and send[column] != entry[column]:
            return True
    if send["topic"] != past.topic:
        return True
    at_acknowledged_place = any(
        e["committed"] and e["partition"] == send["partition"] and send in candidates(past, e)
        for e in past.entries
    )
    return (
        send["outcome"] == "ok"
        and send["partition"] is not None
        and send["partition"] != entry["partition"]
        and not at_acknowledged_place
    )
