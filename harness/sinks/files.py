"""Read Spark's file sink in two ways: through its log, and by listing the directory.

A micro-batch's files reach their final place before the sink's log, `_spark_metadata`, lists them.
If the driver dies in between, these files stay; only log-following readers do not see them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from onceproof.harness.sinks.base import AtomicBatch, Effect, State
from onceproof.harness.sinks.rows import UnreadableFiles, effects_of, rows_of

LOG: Final = "_spark_metadata"
"""The folder of the log, and the view of log-following readers."""
LISTING: Final = "listing"
"""The view of readers that list the directory."""

_ENTRY = re.compile(r"(\d+)(\.compact)?")
_MAGIC: Final = b"PAR1"


class Files:
    """Parquet files of payments with their fee, in one folder."""

    def __init__(self, folder: Path, *, topic: str, sink: str, listed: str) -> None:
        """`folder` may not exist yet.

        `sink` names the effects seen through the log, `listed` those seen by a listing.
        """
        self._folder = folder
        self._topic = topic
        self._by_listing = listed
        self.name = sink

    def size(self) -> int:
        return len(self._listed())

    def effects(self) -> list[Effect]:
        """Return one effect per row and per view that contains the row."""
        rows = {file: rows_of(file) for file in self._listed()}
        logged = ((file, rows[file]) for file in self._logged() if file in rows)
        return [
            *effects_of(rows.items(), sink=self._by_listing, view=LISTING, topic=self._topic),
            *effects_of(logged, sink=self.name, view=LOG, topic=self._topic),
        ]

    def states(self) -> list[State]:
        return []

    def atomic_batches(self) -> list[AtomicBatch]:
        """Return nothing: the log names the batch of a file but not the query."""
        return []

    def hanging(self) -> bool:
        return False

    def _listed(self) -> list[Path]:
        """Return the complete files in the directory; others cannot be read."""
        found = self._folder.glob("[!._]*.parquet") if self._folder.is_dir() else ()
        return sorted(file for file in found if whole(file))

    def _logged(self) -> Iterator[Path]:
        """Yield the files that the log lists.

        Raises:
            UnreadableFiles: the log is damaged.
        """
        entries: dict[int, Path] = {}
        compacted = -1
        log = self._folder / LOG
        for path in log.iterdir() if log.is_dir() else ():
            if found := _ENTRY.fullmatch(path.name):
                number = int(found[1])
                if found[2]:  # a compacted entry replaces all entries before it
                    compacted = max(compacted, number)
                    entries[number] = path
                else:
                    entries.setdefault(number, path)
        for number, path in sorted(entries.items()):
            if number >= compacted:
                yield from _added(path)


def whole(file: Path) -> bool:
    """Return whether a Parquet file has its footer, which is written last."""
    try:
        with file.open("rb") as opened:
            opened.seek(-len(_MAGIC), 2)
            return opened.tell() > 0 and opened.read() == _MAGIC
    except OSError:
        return False  # shorter than the magic number


def _added(path: Path) -> Iterator[Path]:
    """Yield the files that a log entry adds; an append-mode sink never removes files."""
    text = ""
    try:
        text = path.read_text()
        version, *lines = text.splitlines()
        if version != "v1":
            raise ValueError(f"version {version}, expected v1")
        for line in lines:
            entry = json.loads(line)
            if entry["action"] != "add":
                raise ValueError(f"action {entry['action']}, expected add")
            yield Path(unquote(urlsplit(entry["path"]).path))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UnreadableFiles(f"{path}: {error}: {text[:200]!r}") from error
