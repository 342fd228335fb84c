"""Reading a Spark Structured Streaming checkpoint from outside, while the query runs.

The one thing to know: `offsets/N` is written before micro-batch N runs and holds where it will end;
`commits/N` is written after the sink has it. Between the two lies the window in which a crash makes
batch N run again. Spark writes both as `.N.<uuid>.tmp` first, so the creation of that file in
`commits/` says that the sink is done and the commit is not.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from inotify_simple import INotify, flags

from harness.subjects.windows import Sign

Offsets = dict[tuple[str, int], int]
"""(topic, partition) → offset."""

_COMMIT_BEGUN = re.compile(r"\.(\d+)\.[0-9a-f-]+\.tmp")


class UnreadableCheckpoint(RuntimeError):
    """A checkpoint file is not as Spark 4 writes it; the text says which and what was found."""


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint folder."""

    folder: Path

    def create(self) -> None:
        """Make the folders that are watched, before the query does."""
        for name in ("offsets", "commits"):
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
        path = self.folder / "offsets" / str(batch)
        text = ""
        try:
            text = path.read_text()
            version, _, *sources = text.splitlines()
            if version != "v1":
                raise ValueError(f"version {version}")
            return {
                (topic, int(partition)): int(offset)
                for source in sources
                for topic, ends in json.loads(source).items()
                for partition, offset in ends.items()
            }
        except (OSError, ValueError, AttributeError, TypeError) as error:
            raise UnreadableCheckpoint(f"{path}: {error}: {text[:200]!r}") from error

    def range_of(self, batch: int) -> dict[tuple[str, int], tuple[int, int]]:
        """(start, end) of a planned batch: it starts where the one before it ends."""
        start = self.end_of(batch - 1) if batch else {}
        return {at: (start.get(at, 0), end) for at, end in self.end_of(batch).items()}


def _numbers(folder: Path) -> list[int]:
    try:
        return sorted(int(p.name) for p in folder.iterdir() if p.name.isdigit())
    except FileNotFoundError:
        return []


class CheckpointWatch:
    """Tells of every change in a checkpoint at the moment it happens, on a thread of its own.

    `on_sign` is told first, of each sign that `harness.subjects.windows` names: it may freeze the
    driver. Then come `on_planned` and `on_committed`.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        *,
        on_planned: Callable[[int], None],
        on_committed: Callable[[int], None],
    ) -> None:
        self.checkpoint = checkpoint
        self.on_sign: Callable[[Sign, int], None] | None = None
        self._on_planned = on_planned
        self._on_committed = on_committed
        self._ended = threading.Event()
        self._inotify = INotify()
        watched = flags.CREATE | flags.MOVED_TO
        self._offsets = self._inotify.add_watch(checkpoint.folder / "offsets", watched)
        self._commits = self._inotify.add_watch(checkpoint.folder / "commits", watched)
        self.error: Exception | None = None
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the watch after what is there has been told."""
        self._ended.set()
        self._thread.join(5)
        self._inotify.close()

    def _watch(self) -> None:
        try:
            while True:
                events = self._inotify.read(timeout=100)
                if not events and self._ended.is_set():
                    return
                for event in events:
                    self._tell(event.wd, event.mask, event.name)
        except Exception as error:
            self.error = error

    def _tell(self, folder: int, mask: int, name: str) -> None:
        if folder == self._commits and (begun := _COMMIT_BEGUN.fullmatch(name)):
            if mask & flags.CREATE:
                self._sign("commit begun", int(begun[1]))
        elif name.isdigit() and folder == self._offsets:
            self._sign("planned", int(name))
            self._on_planned(int(name))
        elif name.isdigit():
            self._sign("committed", int(name))
            self._on_committed(int(name))

    def _sign(self, sign: Sign, batch: int) -> None:
        if (told := self.on_sign) is not None:
            told(sign, batch)
