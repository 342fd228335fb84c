"""An Iceberg table, seen by two readers: one by its metadata, one that lists its data files.

A commit is a file `metadata/v<N>.metadata.json`, which names a snapshot;
that names its manifests, and these the data files that count. What a snapshot's summary says of
query and epoch stands or falls with its files, and is forgotten with the snapshot.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import fastavro

from onceproof.harness.sinks.base import AtomicBatch, Effect, State
from onceproof.harness.sinks.files import LISTING, whole
from onceproof.harness.sinks.rows import UnreadableFiles, effects_of, rows_of

VIEW: Final = "table"
METADATA: Final = "metadata"

_COMMIT = re.compile(r"v(\d+)\.metadata\.json")
_DELETED: Final = 2
"""Status of a manifest's entry of a file that counts no more."""
_ROWS: Final = 0
"""Content of what adds rows; anything else takes some away."""
_QUERY: Final = "spark.sql.streaming.queryId"
_EPOCH: Final = "spark.sql.streaming.epochId"


class IcebergTable:
    """A table of payments with their fee, of format version 2, to which is only appended."""

    def __init__(self, folder: Path, *, topic: str, sink: str, listed: str) -> None:
        """Nothing is read yet.

        Args:
            folder: the table's; it may come later, until then there is nothing in it.
            topic: what was read.
            sink: what effects call it as it is seen by its metadata.
            listed: what they call it as it is seen by a listing of its data.
        """
        self._folder = folder
        self._topic = topic
        self._by_listing = listed
        self.name = sink

    def size(self) -> int:
        """How many whole data files there are."""
        return len(self._listed())

    def effects(self) -> list[Effect]:
        """One effect a row, once for each reader that sees it."""
        logged = [(file, rows_of(file)) for file in self.files()]
        # Listed behind that, so that whatever counts is there.
        listed = ((file, rows_of(file)) for file in self._listed())
        return [
            *effects_of(listed, sink=self._by_listing, view=LISTING, topic=self._topic),
            *effects_of(logged, sink=self.name, view=VIEW, topic=self._topic),
        ]

    def commits(self) -> int:
        """How many there are; old ones may have been tidied away, and count nevertheless."""
        return max(self._commits(), default=0)

    def files(self) -> list[Path]:
        """The files that count, in the order in which they were added.

        Raises:
            UnreadableFiles: what says so is damaged, or takes rows away.
        """
        return list(self._current())

    def states(self) -> list[State]:
        """None."""
        return []

    def atomic_batches(self) -> list[AtomicBatch]:
        """Epochs of queries, of the snapshots that the table still has."""
        metadata = self._metadata()
        snapshots = sorted(metadata.get("snapshots", ()), key=lambda s: s["sequence-number"])
        told = [s["summary"] for s in snapshots if _EPOCH in s["summary"]]
        return [
            AtomicBatch(owner=str(summary[_QUERY]), batch=int(summary[_EPOCH]), ordinal=number)
            for number, summary in enumerate(told)
        ]

    def hanging(self) -> bool:
        """Nothing can."""
        return False

    def _listed(self) -> list[Path]:
        return sorted(file for file in self._folder.glob("data/*.parquet") if whole(file))

    def _current(self) -> Iterator[Path]:
        """Files that count, in the order in which they were added.

        Raises:
            UnreadableFiles: what says so is damaged, or takes rows away.
        """
        metadata = self._metadata()
        current = metadata.get("current-snapshot-id")
        for snapshot in metadata.get("snapshots", ()):
            if snapshot["snapshot-id"] == current:
                manifests = _records(_path(snapshot["manifest-list"]))
                for manifest in sorted(manifests, key=lambda m: int(m["sequence_number"])):
                    yield from _added(_path(manifest["manifest_path"]))

    def _commits(self) -> dict[int, Path]:
        folder = self._folder / METADATA
        found = folder.iterdir() if folder.is_dir() else ()
        return {int(m[1]): path for path in found if (m := _COMMIT.fullmatch(path.name))}

    def _metadata(self) -> dict[str, Any]:
        """What the newest commit says; nothing before the first."""
        commits = self._commits()
        if not commits:
            return {}
        path = commits[max(commits)]
        text = ""
        try:
            text = path.read_text()
            metadata: dict[str, Any] = json.loads(text)
            if metadata["format-version"] != 2:
                raise ValueError(f"format version {metadata['format-version']}, expected 2")
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UnreadableFiles(f"{path}: {error}: {text[:200]!r}") from error
        return metadata


def _added(path: Path) -> Iterator[Path]:
    """Files of a manifest that count."""
    for entry in _records(path):
        file = entry["data_file"]
        if entry["status"] == _DELETED:
            continue
        if file["content"] != _ROWS:
            raise UnreadableFiles(
                f"{path}: {file['file_path']} takes rows away from other files, expected a table "
                "that is written anew where it changes (write.merge.mode=copy-on-write)"
            )
        yield _path(file["file_path"])


def _records(path: Path) -> list[dict[str, Any]]:
    try:
        with path.open("rb") as opened:
            return list(fastavro.reader(opened))  # type: ignore[arg-type]
    except (OSError, ValueError, EOFError) as error:
        raise UnreadableFiles(f"{path}: it counts, and cannot be read: {error}") from error


def _path(location: str) -> Path:
    """Of a file of this machine, with `file:` before it or without."""
    found = urlsplit(location)
    return Path(unquote(found.path) if found.scheme == "file" else location)
