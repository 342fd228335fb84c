"""The windows of a Spark micro-batch, by the files of its checkpoint and its sink's log."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import ClassVar, Final

from onceproof.harness.clock import now
from onceproof.harness.context.pipeline import WatchTrouble
from onceproof.harness.explore.bench.windows import Windows
from onceproof.harness.explore.points import Purpose
from onceproof.harness.processes.processes import Process
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.subjects.spark.checkpoint import Checkpoint, CheckpointWatch
from onceproof.harness.subjects.spark.crash_point_trigger import (
    SinkProgress,
    SparkCrashPointTrigger,
)
from onceproof.harness.subjects.spark.crash_points import AFTER_COMMIT, Sign, Window

_WORK: Final[Sign] = "planned"
"""The sign before a batch is written; all others are of its commit."""


class SparkWindows(Windows):
    """The windows of one query, in all lives of its driver."""

    ends: ClassVar[str] = AFTER_COMMIT.name

    def __init__(
        self,
        windows: Iterable[Window],
        *,
        checkpoint: Checkpoint,
        sink_log: Path | None,
        sink: SinkProgress,
        driver: Callable[[], Process | None],
    ) -> None:
        """Watch a checkpoint whose folders exist; `driver` returns its newest life."""
        super().__init__(driver)
        self._windows = {window.name: window for window in windows}
        self._sink, self._driver = sink, driver
        self._checkpoint = checkpoint
        self._again = -1
        self._watch = _Watch(self._signed, checkpoint, sink_log)

    def begin(self) -> None:
        self._again = max(self._checkpoint.planned(), default=-1)
        super().begin()

    def arm(self, window: str) -> SparkCrashPointTrigger:
        return SparkCrashPointTrigger(
            self._windows[window],
            watch=self._watch,
            driver=self._driver,
            sink=self._sink,
            strike=lambda _: None,
        )

    def check(self) -> None:
        try:
            self._watch.check()
        except WatchTrouble as error:
            raise StageTrouble(str(error)) from error

    def close(self) -> None:
        self._watch.close()

    def _signed(self, sign: Sign, batch: int, at: int) -> None:
        purpose: Purpose = "work" if sign == _WORK else "commit"
        if batch <= self._again:
            purpose = "recovery"  # a batch that an earlier life had planned
        for window in self._windows.values():
            if window.sign == sign:
                self.note(window.name, number=batch, purpose=purpose, at=at)


class _Watch(CheckpointWatch):
    """Reports every sign, after a trigger had its turn to freeze the driver."""

    def __init__(
        self,
        signed: Callable[[Sign, int, int], None],
        checkpoint: Checkpoint,
        sink_log: Path | None,
    ) -> None:
        self._signed = signed
        super().__init__(
            checkpoint,
            on_planned=lambda _: None,
            on_committed=lambda _: None,
            sink_log=sink_log,
        )

    def _sign(self, *sign: object) -> None:
        at = now()
        super()._sign(*sign)
        name, batch = sign
        self._signed(name, batch, at)  # type: ignore[arg-type]
