"""The history of one topic: its sends and entries, and what is known about each.

Everything is recomputed on each call, word for word as defined; hand-readable histories are small.
"""

from __future__ import annotations

from functools import cached_property

from tests.properties.checkers.world.rows import Row, Rows


class Past:
    """A history restricted to one topic."""

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

    # Deleted and compacted entries.

    @cached_property
    def cut(self) -> dict[int, Row]:
        """Partitions whose beginning was deleted or that are compacted."""
        return {
            p["partition"]: p
            for p in self.rows["partitions"]
            if p["topic"] == self.topic and (p["log_start"] > 0 or "compact" in p["cleanup_policy"])
        }

    def readable(self, partition: int, offset: int | None) -> bool:
        """Whether an entry written at this position is certainly still in the log."""
        if partition not in self.cut:
            return True
        cut = self.cut[partition]
        if "compact" in cut["cleanup_policy"] or offset is None:
            return False
        return bool(offset >= cut["log_start"])

    def may_be_deleted(self, send: Row) -> bool:
        """Whether the send's entry may have been deleted."""
        if send["partition"] is None:
            return bool(self.cut)
        return not self.readable(send["partition"], send["offset"])

    # Writers of entries.

    def sends_of(self, record: str) -> list[Row]:
        return [s for s in self.sends if s["record"] == record]

    def named(self, seen: Row) -> Row | None:
        """The send whose attempt an entry or a read carries, if it matches record and topic."""
        for send in self.sends_of(seen["record"]):
            if send["attempt"] == seen["attempt"]:
                return send
        return None

    def sender(self, seen: Row) -> Row | None:
        """The send that an entry or a read comes from, if that is certain."""
        send = self.named(seen)
        if send is not None:
            return send
        sends = self.sends_of(seen["record"])
        return sends[0] if len(sends) == 1 else None

    # Outcomes.

    def outcome(self, txn: str | None) -> str | None:
        return self.txns[txn]["outcome"] if txn in self.txns else None

    def may_exist(self, send: Row) -> bool:
        """Whether the send may have been appended."""
        return send["outcome"] != "fail" and self.outcome(send["txn"]) != "aborted"

    def must_exist(self, send: Row) -> bool:
        """Whether it was acknowledged outside of transactions or sent in a committed one."""
        if send["txn"] is None:
            return bool(send["outcome"] == "ok")
        return send["outcome"] != "fail" and self.known_committed(send["txn"])

    def known_committed(self, txn: str) -> bool:
        """Whether the commit returned, or a committed record proves an unknown outcome."""
        outcome = self.outcome(txn)
        return outcome == "committed" or (outcome != "aborted" and txn in self.proven_committed)

    @cached_property
    def proven_committed(self) -> set[str]:
        """Transactions on any topic that a record in a committed log proves committed."""
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
