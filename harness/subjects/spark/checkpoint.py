"""Reading a Spark Structured Streaming checkpoint from outside, while the query runs.

`offsets/N` is written before micro-batch N runs and holds where it will end;
`commits/N` is written after the sink has it. Between the two lies the window in which a crash makes
batch N run again. Spark writes both as `.N.<uuid>.tmp` first, so the creation of that file in
`commits/` says that the sink is done and the commit is not. Between the two each task of a stateful
query puts its partition's state there as version N + 1, `state/<operator>/<partition>/<N + 1>.zip`
by RocksDB and `.delta` by the default store, under another name first and then renamed. The file
sink has a log of its own, which is written in the same way as the commit log; an Iceberg table has
its metadata, where each commit begins with a manifest of what was written.
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
"""(topic, partition) → offset."""

_VERSION = re.compile(r"(\d+)\.(?:zip|delta|changelog)")
_COMMIT_BEGUN = re.compile(r"\.(\d+)(?:\.compact)?\.[0-9a-f-]+\.tmp")
"""Every so many entries of a sink's log come with all that were before, as `N.compact`."""
_MANIFEST_BEGUN = re.compile(r"[0-9a-f-]{36}-m\d+\.avro")
"""Iceberg's manifest of what was written. It names no batch: there is one under way at a time."""


class UnreadableCheckpoint(RuntimeError):
    """A checkpoint file is not as Spark 4 writes it; the text says which and what was found."""


@dataclass(frozen=True, kw_only=True)
class BatchState:
    """What the state's partitions have of one batch.

    Attributes:
        version: the version that the batch makes.
        written: for each partition, as `operator/partition`, when its file of that version was
            written, in nanoseconds of the file system's clock; None without one.
    """

    version: int
    written: Mapping[str, int | None]

    @property
    def progress(self) -> tuple[int, int]:
        """How many partitions have the version, and how many there are."""
        return sum(at is not None for at in self.written.values()), len(self.written)

    def anew(self, later: BatchState) -> int:
        """How many partitions that have the version here have it written once more later."""
        return sum(
            at is not None and later.written.get(store) not in (None, at)
            for store, at in self.written.items()
        )


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint folder."""

    folder: Path

    def create(self) -> None:
        """Make the folders that are watched, before the query does."""
        for name in ("offsets", "commits", "state"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)

    def query_id(self) -> str | None:
        """The query's id, which outlives restarts; None before the first start."""
        try:
            return str(json.loads((self.folder / "metadata").read_text())["id"])
        except (FileNotFoundError, json.JSONDecodeError):
            return None

    def planned(self) -> list[int]:
        """Batches in the offset log, in order."""
        return _numbers(self.folder / "offsets")

    def committed(self) -> list[int]:
        """Batches in the commit log, in order."""
        return _numbers(self.folder / "commits")

    def end_of(self, batch: int) -> Offsets:
        """Where a planned batch ends: the next offset to be read, by topic and partition.

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
        """Where the query began, by topic and partition; nothing before its first batch.

        Raises:
            UnreadableCheckpoint: what says so is damaged.
        """

        def begin(text: str) -> Offsets:
            # Spark puts a zero byte before it, for readers of older versions (SPARK-19517).
            (source,) = _version_1(text.lstrip("\0"))
            return offsets_of(json.loads(source))

        found: Offsets = {}
        for path in sorted((self.folder / "sources").glob("*/0")):
            found |= _read(path, begin)
        return found

    def watermark_to_come(self, batch: int) -> bool:
        """Whether a committed batch has moved the watermark: then one comes behind it, without
        records if there are none, which closes what the watermark has passed.

        Raises:
            UnreadableCheckpoint: the entry of one of its logs is damaged.
        """
        plan = self._metadata(self.folder / "offsets" / str(batch)).get("batchWatermarkMs", 0)
        done = self._metadata(self.folder / "commits" / str(batch)).get("nextBatchWatermarkMs", 0)
        return bool(done > plan)

    @staticmethod
    def _metadata(path: Path) -> Mapping[str, Any]:
        """The first object in an entry of a log."""

        def first(text: str) -> Mapping[str, Any]:
            metadata: Mapping[str, Any] = json.loads(text.splitlines()[1])
            return metadata

        return _read(path, first)

    def range_of(self, batch: int) -> dict[tuple[str, int], tuple[int, int]]:
        """(start, end) of a planned batch: it starts where the one before it ends."""
        start = self.end_of(batch - 1) if batch else self.begins()
        return {at: (start.get(at, 0), end) for at, end in self.end_of(batch).items()}

    def state_of(self, batch: int) -> BatchState:
        """What the state's partitions have of a batch; those of joins, a folder deeper, are not
        looked at.
        """
        operators = [self.folder / "state" / str(n) for n in _numbers(self.folder / "state")]
        stores = [operator / str(n) for operator in operators for n in _numbers(operator)]
        return BatchState(
            version=batch + 1,
            written={f"{at.parent.name}/{at.name}": _written(at, batch + 1) for at in stores},
        )


def _read(path: Path, understand: Callable[[str], T]) -> T:
    """What a file of the checkpoint says.

    Raises:
        UnreadableCheckpoint: it is not there, or cannot be understood.
    """
    text = ""
    try:
        text = path.read_text()
        return understand(text)
    except (OSError, ValueError, IndexError, AttributeError, TypeError) as error:
        raise UnreadableCheckpoint(f"{path}: {error}: {text[:200]!r}") from error


def _version_1(text: str) -> list[str]:
    """The lines behind the version; raises `ValueError` if it is another one."""
    version, *lines = text.splitlines()
    if version != "v1":
        raise ValueError(f"version {version}")
    return lines


def offsets_of(by_topic: Mapping[str, Mapping[str, int]]) -> Offsets:
    """Spark's own form of the offsets of one source: `{"topic": {"0": 7}}`."""
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
    """Tells of every change in a checkpoint at the moment it happens.

    `on_sign` is called first, of each sign that `harness.subjects.windows` names: it may freeze the
    driver. Then come `on_planned` and `on_committed`.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        *,
        on_planned: Callable[[int], None],
        on_committed: Callable[[int], None],
        sink_log: Path | None = None,
    ) -> None:
        """Watch from now on.

        Args:
            checkpoint: its folders are there.
            on_planned: called with a batch in the offset log.
            on_committed: called with a batch in the commit log.
            sink_log: the folder of the log that the sink keeps, which is there; None: it has none.
        """
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
        """The batch under way, when a manifest begins."""
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
        """Watch a folder of the state, and those of operators and partitions in it.

        They come with the first batch. What is in one before it is watched is not reported.
        """
        self._add(folder)
        for number in _numbers(folder):
            self._watch_state(folder / str(number))
