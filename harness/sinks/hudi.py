"""Read a Hudi table through its timeline.

The timeline is a folder with a file for each state of each action; an action is complete if it has
one without `.requested` or `.inflight`. A commit names the files that it wrote, each the newest
version of a file group, and may carry the batch of a streaming query, which guards against
duplicates. Other files in the folder are of writes that never completed, or were replaced.

Source: the Hudi technical specification, version 6, sections "Timeline" and "File Layout".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from onceproof.harness.sinks.base import AtomicBatch, Effect, State
from onceproof.harness.sinks.rows import Rows, UnreadableFiles, effects_of, rows_of

TIMELINE: Final = ".hoodie"
VIEW: Final = "table"

_COMMIT = re.compile(r"\d{17}\.(commit|replacecommit)")
_EXPECTED: Final = {
    "hoodie.table.version": "6",
    "hoodie.table.type": "COPY_ON_WRITE",
    "hoodie.table.base.file.format": "PARQUET",
}
"""Newer versions have their timeline in Avro; merge-on-read has logs beside its files."""
_BATCHES: Final = "_hudi_streaming_sink_checkpoint"


class HudiTable:
    """The newest version of a copy-on-write table of payments with their fee."""

    def __init__(self, folder: Path, *, topic: str, sink: str) -> None:
        """`folder` may not exist yet; then the table is empty."""
        self._folder = folder
        self._timeline = folder / TIMELINE
        self._topic = topic
        self.name = sink

    def size(self) -> int:
        return len(self._commits())

    def effects(self) -> list[Effect]:
        return list(effects_of(self.rows(), sink=self.name, view=VIEW, topic=self._topic))

    def rows(self) -> Iterator[tuple[Path, Rows]]:
        """Yield the rows of the newest file of each group, in the order of their commits.

        Raises:
            UnreadableFiles: a commit or a file is damaged, commits were archived, or the table is
                of another type or version.
        """
        newest: dict[str, str] = {}
        for commit in self._contents():
            for groups in (commit.get("partitionToReplaceFileIds") or {}).values():
                for group in groups:
                    newest.pop(group, None)
            for written in commit["partitionToWriteStats"].values():
                for file in written:
                    newest[file["fileId"]] = file["path"]
        for path in newest.values():
            file = self._folder / path
            yield file, rows_of(file)

    def states(self) -> list[State]:
        return []

    def atomic_batches(self) -> list[AtomicBatch]:
        """Return the batches that commits name; their owner is the writer's identifier."""
        found: list[AtomicBatch] = []
        for commit in self._contents():
            named = (commit.get("extraMetadata") or {}).get(_BATCHES)
            for writer, batch in (json.loads(named) if named else {}).items():
                found.append(AtomicBatch(owner=writer, batch=int(batch), ordinal=len(found)))
        return found

    def hanging(self) -> bool:
        return False

    def _commits(self) -> list[Path]:
        found = self._timeline.iterdir() if self._timeline.is_dir() else ()
        return sorted(path for path in found if _COMMIT.fullmatch(path.name))

    def _contents(self) -> Iterator[dict[str, Any]]:
        """Yield every completed commit, oldest first."""
        commits = self._commits()
        if commits:
            self._check()
        for path in commits:
            try:
                commit = json.loads(path.read_text())
                if not isinstance(commit.get("partitionToWriteStats"), dict):
                    raise ValueError("partitionToWriteStats is missing")
            except (OSError, ValueError, AttributeError) as error:
                raise UnreadableFiles(f"{path}: not a commit of a Hudi table: {error}") from error
            yield commit

    def _check(self) -> None:
        file = self._timeline / "hoodie.properties"
        try:
            lines = file.read_text().splitlines()
        except OSError as error:
            raise UnreadableFiles(f"{file}: {error}") from error
        found = dict(line.split("=", 1) for line in lines if "=" in line)
        for name, expected in _EXPECTED.items():
            if (actual := found.get(name)) != expected:
                raise UnreadableFiles(f"{file}: {name}={actual}, expected {expected}")
        archived = self._timeline / found.get("hoodie.archivelog.folder", "archived")
        if archived.is_dir() and any(archived.iterdir()):
            raise UnreadableFiles(
                f"{archived}: commits were archived; expected all of them in the timeline "
                "(hoodie.keep.min.commits, hoodie.keep.max.commits)"
            )
