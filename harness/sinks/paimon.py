"""Read a Paimon table through its snapshots.

A snapshot is a file that names two lists of manifests: those of the snapshots before it, and its
own. Manifests add and delete data files; other files are of writes that were never committed. A
table with a primary key may have a row several times: the one with the highest sequence number
counts.

Source: the Paimon specification, sections "Snapshot", "Manifest" and "DataFile".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from onceproof.harness.sinks.base import AtomicBatch, Effect, State
from onceproof.harness.sinks.rows import Rows, UnreadableFiles, effects_of, rows_of

VIEW: Final = "table"

_SNAPSHOT = re.compile(r"snapshot-(\d+)")
_ADDED, _DELETED = 0, 1
"""Kinds of a manifest's entries."""
_SEQUENCE: Final = "_SEQUENCE_NUMBER"
_INSERTED: Final = (0, 2)
"""`_VALUE_KIND` of rows that are there: +I and +U."""


class PaimonTable:
    """The newest snapshot of a table of payments with their fee, without partitions."""

    def __init__(self, folder: Path, *, topic: str, sink: str) -> None:
        """`folder` may not exist yet; then the table is empty."""
        self._folder = folder
        self._topic = topic
        self.name = sink

    def size(self) -> int:
        return len(self._snapshots())

    def effects(self) -> list[Effect]:
        return list(effects_of(self.rows(), sink=self.name, view=VIEW, topic=self._topic))

    def rows(self) -> Iterator[tuple[Path, Rows]]:
        """Yield the rows of each data file of the newest snapshot, in the order of addition.

        Raises:
            UnreadableFiles: a file is missing or damaged.
        """
        found = [(file, rows_of(file)) for file in self._files()]
        highest: dict[object, int] = {}
        for _, rows in found:
            for row in rows:
                if _SEQUENCE in row:
                    key, sequence = row["record"], int(row[_SEQUENCE])
                    highest[key] = max(sequence, highest.get(key, sequence))
        for file, rows in found:
            yield file, [row for row in rows if _counts(row, highest)]

    def states(self) -> list[State]:
        return []

    def atomic_batches(self) -> list[AtomicBatch]:
        """Return none: Spark's writes name no batch in their snapshots."""
        return []

    def hanging(self) -> bool:
        return False

    def _snapshots(self) -> dict[int, Path]:
        folder = self._folder / "snapshot"
        found = folder.iterdir() if folder.is_dir() else ()
        return {int(m[1]): path for path in found if (m := _SNAPSHOT.fullmatch(path.name))}

    def _files(self) -> list[Path]:
        snapshots = self._snapshots()
        if not snapshots:
            return []
        path = snapshots[max(snapshots)]
        try:
            snapshot = json.loads(path.read_text())
            lists = [snapshot["baseManifestList"], snapshot["deltaManifestList"]]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UnreadableFiles(f"{path}: not a snapshot of a Paimon table: {error}") from error
        live: dict[str, None] = {}
        for manifests in lists:
            for manifest in self._entries(manifests):
                for entry in self._entries(manifest["_FILE_NAME"]):
                    place = f"bucket-{entry['_BUCKET']}/{entry['_FILE']['_FILE_NAME']}"
                    if entry["_KIND"] == _ADDED:
                        live[place] = None
                    elif entry["_KIND"] == _DELETED:
                        live.pop(place, None)
        return [self._folder / place for place in live]

    def _entries(self, name: str) -> list[dict[str, Any]]:
        """Return the records of an Avro file of the folder `manifest`."""
        import fastavro

        path = self._folder / "manifest" / name
        try:
            with path.open("rb") as content:
                records: Any = fastavro.reader(content)
                return list(records)
        except (OSError, ValueError, EOFError, KeyError) as error:
            raise UnreadableFiles(
                f"{path} is part of the table but cannot be read: {error}"
            ) from error


def _counts(row: dict[str, Any], highest: dict[object, int]) -> bool:
    """Return whether a row is part of the table."""
    if _SEQUENCE not in row:
        return True
    return row[_SEQUENCE] == highest[row["record"]] and row["_VALUE_KIND"] in _INSERTED
