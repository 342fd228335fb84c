"""Spark's file sink, seen by two readers: one by its log, one that lists the directory.

A micro-batch's files are put where they stay before the sink's own log,
`_spark_metadata`, says that they count. What a dead driver left between the two is in the
directory for ever; only who reads by the log does not see it.
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
"""The folder of the log, and the view of who reads by it."""
LISTING: Final = "listing"
"""The view of who reads what there is."""

_ENTRY = re.compile(r"(\d+)(\.compact)?")
_MAGIC: Final = b"PAR1"


class Files:
    """Parquet files of payments with their fee, in one folder."""

    def __init__(self, folder: Path, *, topic: str, sink: str, listed: str) -> None:
        """Nothing is read yet.

        Args:
            folder: where they are; it may come later, until then there is nothing in it.
            topic: what was read.
            sink: what effects call it as it is seen by its log.
            listed: what they call it as it is seen by a listing.
        """
        self._folder = folder
        self._topic = topic
        self._by_listing = listed
        self.name = sink

    def size(self) -> int:
        """How many whole files there are."""
        return len(self._listed())

    def effects(self) -> list[Effect]:
        """One effect a row, once for each reader that sees it."""
        rows = {file: rows_of(file) for file in self._listed()}
        logged = ((file, rows[file]) for file in self._logged() if file in rows)
        return [
            *effects_of(rows.items(), sink=self._by_listing, view=LISTING, topic=self._topic),
            *effects_of(logged, sink=self.name, view=LOG, topic=self._topic),
        ]

    def states(self) -> list[State]:
        """None."""
        return []

    def atomic_batches(self) -> list[AtomicBatch]:
        """None: the log says of which batch a file is, and not of which query."""
        return []

    def hanging(self) -> bool:
        """Nothing can."""
        return False

    def _listed(self) -> list[Path]:
        """Files that a listing shows and that can be read: those that are whole."""
        found = self._folder.glob("[!._]*.parquet") if self._folder.is_dir() else ()
        return sorted(file for file in found if whole(file))

    def _logged(self) -> Iterator[Path]:
        """Files of which the log says that they count.

        Raises:
            UnreadableFiles: the log is damaged.
        """
        entries: dict[int, Path] = {}
        compacted = -1
        log = self._folder / LOG
        for path in log.iterdir() if log.is_dir() else ():
            if found := _ENTRY.fullmatch(path.name):
                number = int(found[1])
                if found[2]:  # it says everything that those before it said
                    compacted = max(compacted, number)
                    entries[number] = path
                else:
                    entries.setdefault(number, path)
        for number, path in sorted(entries.items()):
            if number >= compacted:
                yield from _added(path)


def whole(file: Path) -> bool:
    """Whether a Parquet file has its end, which is written last."""
    try:
        with file.open("rb") as opened:
            opened.seek(-len(_MAGIC), 2)
            return opened.tell() > 0 and opened.read() == _MAGIC
    except OSError:
        return False  # it is shorter than that


def _added(path: Path) -> Iterator[Path]:
    """Files that an entry of the log adds; those that it takes away are none of an append sink."""
    text = ""
    try:
        text = path.read_text()
        version, *lines = text.splitlines()
        if version != "v1":
            raise ValueError(f"version {version}")
        for line in lines:
            entry = json.loads(line)
            if entry["action"] != "add":
                raise ValueError(f"action {entry['action']}, expected add")
            yield Path(unquote(urlsplit(entry["path"]).path))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UnreadableFiles(f"{path}: {error}: {text[:200]!r}") from error
