"""aborted-read, precommitted-read, skipped-read and repeated-read: what readers saw."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from tests.properties.checkers.oracle.hits import Hit
from tests.properties.checkers.oracle.past import Past
from tests.properties.checkers.world.rows import Row


def _committed_reads(past: Past) -> list[Row]:
    """Reads that may return only committed records."""
    return [r for r in past.reads if r["isolation"] == "read_committed" and r["record"] is not None]


def _logged_later(past: Past, read: Row) -> bool:
    """Whether the log was certainly collected after a read."""
    if past.collection is None:
        return False
    by_clock = read["clock"] == past.collection["clock"]
    return past.complete or (by_clock and read["at"] <= past.collection["started_at"])


def aborted_read(past: Past) -> Iterator[Hit]:
    for read in _committed_reads(past):
        send = past.named(read)
        sends = [send] if send is not None else past.sends_of(read["record"])
        none_exists = bool(sends) and not any(past.may_exist(s) for s in sends)
        aborted_there = _logged_later(past, read) and any(
            not e["committed"]
            and e["record"] == read["record"]
            and (e["partition"], e["offset"]) == (read["partition"], read["offset"])
            for e in past.entries
        )
        if none_exists or aborted_there:
            yield Hit((past.topic, read["record"], read["reader"]), read)


def precommitted_read(past: Past) -> Iterator[Hit]:
    for read in _committed_reads(past):
        send = past.sender(read)
        if send is None or send["txn"] not in past.txns:
            continue
        txn = past.txns[send["txn"]]
        commit_called = txn["commit_called_at"]
        if txn["outcome"] == "aborted":
            continue
        if commit_called is None:
            early = txn["outcome"] == "info"
        else:
            early = read["clock"] == txn["clock"] and read["at"] < commit_called
        if early:
            key = (past.topic, read["record"], read["reader"])
            yield Hit(key, {**read, "txn": send["txn"]})


def _by_session(past: Past) -> dict[tuple[int, str, str], list[Row]]:
    """(partition, reader, session) → its reads in order."""
    by_session: dict[tuple[int, str, str], list[Row]] = defaultdict(list)
    for read in past.reads:
        by_session[read["partition"], read["reader"], read["session"]].append(read)
    return {
        session: sorted(reads, key=lambda r: int(r["ordinal"]))
        for session, reads in by_session.items()
    }


def skipped_read(past: Past) -> Iterator[Hit]:
    for (partition, reader, session), reads in _by_session(past).items():
        reached: int | None = None
        for a in past.rows["assignments"]:
            same_partition = (a["topic"], a["partition"]) == (past.topic, partition)
            if same_partition and (a["reader"], a["session"]) == (reader, session):
                reached = a["position"] - 1
        for number, read in enumerate(reads):
            if number:
                reached = max(r["offset"] for r in reads[:number])
            if reached is None:
                continue
            for e in past.rows["log"]:
                if (e["topic"], e["partition"]) != (past.topic, partition) or e["kind"] != "data":
                    continue
                delivered = e["committed"] or read["isolation"] == "read_uncommitted"
                if delivered and reached < e["offset"] < read["offset"]:
                    key = (past.topic, partition, reader, session, e["offset"])
                    row = {"record": e["record"], "reached": reached}
                    yield Hit(
                        key, {**row, "read_offset": read["offset"], "ordinal": read["ordinal"]}
                    )


def repeated_read(past: Past) -> Iterator[Hit]:
    for (partition, reader, session), reads in _by_session(past).items():
        for number, read in enumerate(reads):
            if number:
                reached = max(r["offset"] for r in reads[:number])
                if read["offset"] <= reached:
                    key = (past.topic, partition, reader, session, read["ordinal"])
                    yield Hit(key, {**read, "reached": reached})
