"""torn-transaction: part of a transaction is committed and part is not."""

from __future__ import annotations

from collections.abc import Iterator

from tests.properties.checkers.oracle.hits import Hit
from tests.properties.checkers.oracle.past import Past
from tests.properties.checkers.world.rows import Row


def torn_transaction(past: Past) -> Iterator[Hit]:
    for txn in {s["txn"] for s in past.sends if s["txn"] is not None}:
        units = [*_records(past, txn), *_positions(past, txn)]
        states = {unit["state"] for unit in units}
        if {"committed", "missing"} <= states or "failed" in states:
            for unit in units:
                yield Hit((past.topic, txn), unit)


def _records(past: Past, txn: str) -> Iterator[Row]:
    for send in past.rows["sends"]:
        if send["txn"] != txn:
            continue
        if send["outcome"] == "fail" and past.outcome(txn) == "committed":
            yield {**_where(send), "what": "send", "name": send["attempt"], "state": "failed"}
        happened = send["outcome"] == "ok" or (
            send["outcome"] == "info" and past.known_committed(txn)
        )
        if happened and _collected(past, send["topic"]):
            state = _send_state(Past(past.rows, send["topic"]), send)
            yield {**_where(send), "what": "send", "name": send["attempt"], "state": state}


def _send_state(past: Past, send: Row) -> str:
    """The state of an acknowledged send to this topic."""
    entries = [e for e in past.committed if e["record"] == send["record"]]
    if any(past.sender(e) is send for e in entries):
        return "committed"
    if past.may_be_deleted(send) or any(past.named(e) is None for e in entries):
        return "undecided"  # an entry without attempt may be its own
    return "missing"


def _collected(past: Past, topic: str) -> bool:
    return any(row["topic"] == topic for row in (*past.rows["partitions"], *past.rows["log"]))


def _positions(past: Past, txn: str) -> Iterator[Row]:
    staged = past.rows["staged"]
    for number, row in enumerate(staged):
        if row["txn"] != txn or row in staged[:number]:
            continue
        done = [
            p
            for p in past.rows["positions"]
            if p["owner"] == row["owner"]
            and (p["kind"], p["by"]) == ("done", "subject")
            and p["role"] != "advisory"
        ]
        offsets = [p["offset"] for p in done if _place(p) == _place(row)]
        others = [
            s
            for s in past.rows["staged"]
            if s["txn"] != txn
            and (s["owner"], *_place(s), s["offset"]) == (row["owner"], *_place(row), row["offset"])
        ]
        state = "undecided"
        if row["offset"] in offsets and not others:
            state = "committed"
        elif done and not any(offset >= row["offset"] for offset in offsets):
            state = "missing"
        yield {**_where(row), "what": "offset", "name": row["owner"], "state": state}


def _place(row: Row) -> tuple[str, int]:
    return (row["topic"], row["partition"])


def _where(row: Row) -> Row:
    return {"unit_topic": row["topic"], "partition": row["partition"], "offset": row["offset"]}
