"""Read a Spark Structured Streaming checkpoint from outside, while the query runs.

Spark writes `offsets/N`, with the end offsets of micro-batch N, before the batch runs, and
`commits/N` after the sink has it. A crash in between makes batch N run again. Both are written to
`.N.<uuid>.tmp` first, so the creation of that file in `commits/` means that the sink is done and
the commit is not. In between, each task of a stateful query writes its partition's state as version
N + 1: `state/<operator>/<partition>/<N + 1>.zip` with RocksDB, `.delta` with the default store,
renamed from a temporary file. The file sink's log is written like the commit log; an Iceberg
commit begins with a manifest in the table's metadata.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from inotify_simple import flags

from onceproof.harness.subjects.folder_watch import FolderWatch

T = TypeVar("T")
Offsets = dict[tuple[str, int], int]

_VERSION = re.compile(r"(\d+)\.(?:zip|delta|changelog)")
_COMMIT_BEGUN = re.compile(r"\.(\d+)(?:\.compact)?\.[0-9a-f-]+\.tmp")
"""A sink's log is compacted periodically: `N.compact` includes all earlier entries."""
_MANIFEST_BEGUN = re.compile(r"[0-9a-f-]{36}-m\d+\.avro")
"""Iceberg's manifest of new files. It names no batch, but only one is running at a time."""


class UnreadableCheckpoint(RuntimeError):
    """A checkpoint file is not as Spark 4 writes it; the text says which and what was found."""


@dataclass(frozen=True, kw_only=True)
class BatchState:
    """State of one batch in the state store's partitions.

    Attributes:
        version: the version that the batch writes.
        written: `operator/partition` → when its file of that version was written, in nanoseconds of
            the file system's clock; None if it does not exist.
    """

    version: int
    written: Mapping[str, int | None]

    @property
    def progress(self) -> tuple[int, int]:
        """Number of partitions that have the version, and number of partitions."""
        return sum(at is not None for at in self.written.values()), len(self.written)

    def anew(self, later: BatchState) -> int:
        """Return how many partitions that have the version here have rewritten it in `later`."""
        return sum(
            at is not None and later.written.get(store) not in (None, at)
            for store, at in self.written.items()
        )


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint folder."""

    folder: Path

    def create(self) -> None:
        """Create the watched folders before the query does."""
        for name in ("offsets", "commits", "state"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)

    def query_id(self) -> str | None:
        """Return the query's id, which survives restarts; None before the first start."""
        try:
            return str(json.loads((self.folder / "metadata").read_text())["id"])
        except (FileNotFoundError, json.JSONDecodeError):
            return None

    def planned(self) -> list[int]:
        return _numbers(self.folder / "offsets")

    def committed(self) -> list[int]:
        return _numbers(self.folder / "commits")

    def end_of(self, batch: int) -> Offsets:
        """Return the end offsets of a planned batch: the next ones to read.

        Raises:
            UnreadableCheckpoint: the entry is damaged.
        """

        def ends(text: str) -> Offsets:
            _, *sources = _version_1(text)
            return {
                at: end for source in sources for at, end in offsets_of(json.loads(source)).items()
            }

        return _read(self.folder / "offsets" / str(batch), ends)

    def begins(self) -> Offsets:
        """Return the offsets where the query began; empty before its first batch.

        Raises:
            UnreadableCheckpoint: the file is damaged.
        """

        def begin(text: str) -> Offsets:
            # Spark writes a zero byte first, for readers of older versions (SPARK-19517).
            (source,) = _version_1(text.lstrip("\0"))
            return offsets_of(json.loads(source))

        found: Offsets = {}
        for path in sorted((self.folder / "sources").glob("*/0")):
            found |= _read(path, begin)
        return found

    def watermark_to_come(self, batch: int) -> bool:
        """Return whether a committed batch has advanced the watermark.

        If so, another batch follows, possibly without records, that closes what the watermark has
        passed.

        Raises:
            UnreadableCheckpoint: a log entry is damaged.
        """
        plan = self._metadata(self.folder / "offsets" / str(batch)).get("batchWatermarkMs", 0)
        done = self._metadata(self.folder / "commits" / str(batch)).get("nextBatchWatermarkMs", 0)
        return bool(done > plan)

    @staticmethod
    def _metadata(path: Path) -> Mapping[str, Any]:
        def first(text: str) -> Mapping[str, Any]:
            metadata: Mapping[str, Any] = json.loads(text.splitlines()[1])
            return metadata

        return _read(path, first)

    def range_of(self, batch: int) -> dict[tuple[str, int], tuple[int, int]]:
        """Return (start, end) of a planned batch; it starts at the end of the previous one."""
        start = self.end_of(batch - 1) if batch else self.begins()
        return {at: (start.get(at, 0), end) for at, end in self.end_of(batch).items()}

    def state_of(self, batch: int) -> BatchState:
        """Return a batch's state, without that of joins, whose stores are one folder deeper."""
        operators = [self.folder / "state" / str(n) for n in _numbers(self.folder / "state")]
        stores = [operator / str(n) for operator in operators for n in _numbers(operator)]
        return BatchState(
            version=batch + 1,
            written={f"{at.parent.name}/{at.name}": _written(at, batch + 1) for at in stores},
        )


def _read(path: Path, understand: Callable[[str], T]) -> T:
    """Parse a file of the checkpoint.

    Raises:
        UnreadableCheckpoint: it does not exist, or cannot be parsed.
    """
    text = ""
    try:
        text = path.read_text()
        return understand(text)
    except (OSError, ValueError, IndexError, AttributeError, TypeError) as error:
        raise UnreadableCheckpoint(f"{path}: {error}: {text[:200]!r}") from error


def _version_1(text: str) -> list[str]:
    """Return the lines after the version; raise `ValueError` if that is not v1."""
    version, *lines = text.splitlines()
    if version != "v1":
        raise ValueError(f"unsupported version {version}: expected v1")
    return lines


def offsets_of(by_topic: Mapping[str, Mapping[str, int]]) -> Offsets:
    """Convert Spark's JSON form of one source's offsets: `{"topic": {"0": 7}}`."""
    return {
        (topic, int(partition)): int(offset)
        for topic, offsets in by_topic.items()
        for partition, offset in offsets.items()
    }


def _written(store: Path, version: int) -> int | None:
    found = [
        path.stat().st_mtime_ns
        for path in store.glob(f"{version}.*")
        if _VERSION.fullmatch(path.name)
    ]
    return max(found, default=None)


def _numbers(folder: Path) -> list[int]:
    try:
        return sorted(int(p.name) for p in folder.iterdir() if p.name.isdigit())
    except FileNotFoundError:
        return []


class CheckpointWatch(FolderWatch):
    """Report every change of a checkpoint immediately.

    `on_sign` is called first, with a sign of `crash_points.Sign` and its batch; it may freeze the
    driver. `on_planned` and `on_committed` are called next.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        *,
        on_planned: Callable[[int], None],
        on_committed: Callable[[int], None],
        sink_log: Path | None = None,
    ) -> None:
        """Start watching; all folders must exist. `sink_log` is the folder of the sink's log."""
        super().__init__(checkpoint.folder)
        self.checkpoint = checkpoint
        self._on_planned = on_planned
        self._on_committed = on_committed
        self._sink = sink_log
        self._offsets, self._commits = checkpoint.folder / "offsets", checkpoint.folder / "commits"
        for folder in (self._offsets, self._commits, *([sink_log] if sink_log else [])):
            self._add(folder)
        self._watch_state(checkpoint.folder / "state")
        self._thread.start()

    def _appeared(self, path: Path, mask: int) -> None:
        name = path.name
        begun = _COMMIT_BEGUN.fullmatch(name) if mask & flags.CREATE else None
        if path.parent == self._sink:
            batch = int(begun[1]) if begun else self._of_manifest(mask, name)
            if batch is not None:
                self._sign("sink commit begun", batch)
        elif path.parent == self._offsets:
            if name.isdigit():
                self._sign("planned", int(name))
                self._on_planned(int(name))
        elif path.parent != self._commits:
            self._state_appeared(path, mask)
        elif begun:
            self._sign("commit begun", int(begun[1]))
        elif name.isdigit():
            self._sign("committed", int(name))
            self._on_committed(int(name))

    def _of_manifest(self, mask: int, name: str) -> int | None:
        """Return the running batch if a manifest was created."""
        if not (mask & flags.CREATE and _MANIFEST_BEGUN.fullmatch(name)):
            return None
        return max(self.checkpoint.planned(), default=None)

    def _state_appeared(self, path: Path, mask: int) -> None:
        if mask & flags.ISDIR:
            if path.name.isdigit():
                self._watch_state(path)
        elif version := _VERSION.fullmatch(path.name):
            self._sign("state commit begun", int(version[1]) - 1)

    def _watch_state(self, folder: Path) -> None:
        """Watch a state folder and its subfolders; do not report files that are already there."""
        self._add(folder)
        for number in _numbers(folder):
            self._watch_state(folder / str(number))
