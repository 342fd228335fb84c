"""The broker: partition logs, open transactions, and what readers may see.

Entries of an open transaction are not committed; when it ends, they get its outcome and each of its
partitions gets a marker.
"""

from __future__ import annotations

from collections import defaultdict
from random import Random

from tests.properties.checkers.world.rows import Place, Row, Rows, new


class Broker:
    def __init__(self, rows: Rows, draw: Random, *, jumps: bool) -> None:
        self._rows = rows
        self._draw = draw
        self._jumps = jumps
        self._ends: dict[Place, int] = {}
        self._open: dict[str, list[Row]] = defaultdict(list)
        self.log: dict[Place, list[Row]] = defaultdict(list)

    def create(self, place: Place) -> None:
        """Create a partition whose first offset is arbitrary."""
        beginning = self._draw.choice((0, 5, 1_000, 50_000_000, 2**62)) if self._jumps else 0
        self._ends[place] = beginning

    @property
    def places(self) -> list[Place]:
        """All partitions in order of creation."""
        return list(self._ends)

    def end(self, place: Place) -> int:
        """The high watermark."""
        return self._ends[place]

    def append(self, place: Place, txn: str | None, **content: object) -> Row:
        """Append one data entry."""
        entry = self._add(place, kind="data", committed=txn is None, **content)
        if txn is not None:
            self._open[txn].append(entry)
        return entry

    def finish(self, txn: str, *, committed: bool) -> None:
        """End a transaction, with a marker in each of its partitions."""
        entries = self._open.pop(txn, [])
        for entry in entries:
            entry["committed"] = committed
        for place in sorted({(e["topic"], e["partition"]) for e in entries}):
            self._add(place, kind="commit" if committed else "abort", committed=committed)

    @property
    def open(self) -> list[str]:
        """Transactions that have not ended."""
        return list(self._open)

    def last_stable(self, place: Place) -> int:
        """Offset of the first entry of an open transaction, or the high watermark."""
        pending = [
            entry["offset"]
            for entries in self._open.values()
            for entry in entries
            if (entry["topic"], entry["partition"]) == place
        ]
        return min(pending, default=self._ends[place])

    def deliver(self, place: Place, position: int, isolation: str) -> Row | None:
        """The next entry that a reader at this position gets."""
        for entry in self.log[place]:
            if entry["offset"] < position or entry["kind"] != "data":
                continue
            if isolation == "read_uncommitted":
                return entry
            if entry["offset"] < self.last_stable(place) and entry["committed"]:
                return entry
        return None

    def _add(self, place: Place, **content: object) -> Row:
        topic, partition = place
        if self._jumps and self._draw.random() < 0.1:
            self._ends[place] += self._draw.randint(1, 9)
        entry = new("log", topic=topic, partition=partition, offset=self._ends[place], **content)
        self._ends[place] += 1
        self._rows["log"].append(entry)
        self.log[place].append(entry)
        return entry
