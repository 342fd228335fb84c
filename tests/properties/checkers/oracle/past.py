"""What happened to one topic: sends, entries, and what is known of each.

It follows the definitions word by word and recomputes everything each time,
because a history that a person can read is small.
"""

from __future__ import annotations

from functools import cached_property

from tests.properties.checkers.world.rows import Row, Rows


class Past:
    """A history with one topic in view."""

    def __init__(self, rows: Rows, topic: str) -> None:
        self.rows = rows
        self.topic = topic
        self.sends = [s for s in rows["sends"] if s["topic"] == topic]
        self.entries = [
            e
            for e in rows["log"]
            if e["topic"] == topic and e["kind"] == "data" and e["record"] is not None
        ]
        self.committed = [e for e in self.entries if e["committed"]]
        self.reads = [r for r in rows["reads"] if r["topic"] == topic]
        self.txns = {t["txn"]: t for t in rows["txns"]}
        self.sent_anywhere = {s["record"] for s in rows["sends"]}

    # The run.

    def outcomes(self, phase: str) -> set[str | None]:
        return {p["outcome"] for p in self.rows["phases"] if p["phase"] == phase}

    @cached_property
    def collected(self) -> bool:
        return self.outcomes("collect") == {"ok"}

    @cached_property
    def complete(self) -> bool:
        return self.collected and self.outcomes("settle") == {"ok"}

    @cached_property
    def collection(self) -> Row | None:
        rows = [p for p in self.rows["phases"] if p["phase"] == "collect"]
        return rows[-1] if self.collected else None

    # What the log does not hold any more.

    @cached_property
    def cut(self) -> dict[int, Row]:
        """Partitions whose beginning was deleted or that are compacted."""
        return {
            p["partition"]: p
            for p in self.rows["partitions"]
            if p["topic"] == self.topic and (p["log_start"] > 0 or "compact" in p["cleanup_policy"])
        }

    def readable(self, partition: int, offset: int | None) -> bool:
        """Whether what stood here certainly still stands here."""
        if partition not in self.cut:
            return True
        cut = self.cut[partition]
        if "compact" in cut["cleanup_policy"] or offset is None:
            return False
        return bool(offset >= cut["log_start"])

    def gone(self, send: Row) -> bool:
        """Whether the send's position may have been deleted."""
        if send["partition"] is None:
            return bool(self.cut)
        return not self.readable(send["partition"], send["offset"])

    # Who wrote it.

    def sends_of(self, record: str) -> list[Row]:
        return [s for s in self.sends if s["record"] == record]

    def named(self, seen: Row) -> Row | None:
        """The send that an entry or a read names: one of this record to this topic."""
        for send in self.sends_of(seen["record"]):
            if send["attempt"] == seen["attempt"]:
                return send
        return None

    def sender(self, seen: Row) -> Row | None:
        """The send that an entry or a read comes from, as far as that is certain."""
        send = self.named(seen)
        if send is not None:
            return send
        sends = self.sends_of(seen["record"])
        return sends[0] if len(sends) == 1 else None

    # What became of it.

    def outcome(self, txn: str | None) -> str | None:
        return self.txns[txn]["outcome"] if txn in self.txns else None

    def may(self, send: Row) -> bool:
        """It may have happened."""
        return send["outcome"] != "fail" and self.outcome(send["txn"]) != "aborted"

    def must(self, send: Row) -> bool:
        """It was acknowledged outside a transaction, or sent in one known to be committed."""
        if send["txn"] is None:
            return bool(send["outcome"] == "ok")
        return send["outcome"] != "fail" and self.known_committed(send["txn"])

    def known_committed(self, txn: str) -> bool:
        """Its commit returned, or nobody knows of it and one of its records proves it."""
        outcome = self.outcome(txn)
        return outcome == "committed" or (outcome != "aborted" and txn in self.proven)

    @cached_property
    def proven(self) -> set[str]:
        """Transactions, of whatever topics, that a record in a committed log proves."""
        found = set()
        for entry in self.rows["log"]:
            if entry["kind"] != "data" or not entry["committed"]:
                continue
            same = [
                s
                for s in self.rows["sends"]
                if s["record"] == entry["record"] and s["topic"] == entry["topic"]
            ]
            for send in self.rows["sends"]:
                if send["topic"] != entry["topic"] or send["txn"] is None:
                    continue
                named = send["attempt"] == entry["attempt"] and send in same
                if named or (entry["attempt"] is None and same == [send]):
                    found.add(send["txn"])
        return found
