"""A Flink job of a run: one process, restarted from its last checkpoint as an operator would do it.

Each life has its own checkpoint folder, and starts from the newest complete checkpoint of the
previous life, or from where that life started. So checkpoints that a zombie completes do not affect
its successors. A job that a fault has ended stays down until the fault heals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from onceproof.harness.clock import clock_id, now
from onceproof.harness.context.pipeline import PipelineParts, Positions
from onceproof.harness.history.tables import Recorded
from onceproof.harness.history.writer import HistoryWriter
from onceproof.harness.processes.processes import Process
from onceproof.harness.sinks.base import Sink
from onceproof.harness.subjects.flink.checkpoints import Complete, newest, sign_of
from onceproof.harness.subjects.flink.crash_points import Sign
from onceproof.harness.subjects.flink.watch import CheckpointWatch
from onceproof.harness.subjects.group.hazards import hazards
from onceproof.harness.subjects.group.positions import Committed
from onceproof.harness.subjects.supervisor import Supervisor, TooOften

_JOB: Final = "the Flink job"
Command = Callable[[Mapping[str, str]], list[str | Path]]
"""Build the command line of a life, given settings specific to it, such as `flink.NAME`."""


def checkpointing(folder: Path, restored: Complete | None) -> dict[str, str]:
    """Return the settings of a life by its checkpoint folder and what it starts from."""
    settings = {"flink.execution.checkpointing.dir": f"file://{folder}"}
    if restored is not None:
        settings["flink.execution.state-recovery.path"] = f"file://{restored.folder}"
    return settings


class FlinkJob:
    """The successive lives of one job, and their checkpoints."""

    counted = "complete checkpoints"
    awaited = "the first complete checkpoint with records"

    def __init__(
        self,
        *,
        name: str,
        command: Command,
        parts: PipelineParts,
        sink: str,
        transactional: bool,
        restored: bool,
        start: int | None = None,
        kept: Committed | None = None,
    ) -> None:
        """Create the checkpoint folder and watch it; the job is not started yet.

        Args:
            name: owner of the positions, and prefix of its transactional ids.
            restored: whether a life starts from the last checkpoint of the previous one.
            start: offset at which it starts without a checkpoint; None if not known beforehand.
            kept: the group's committed offsets, if it starts from them without a checkpoint.
        """
        self.name = name
        self.transactional = transactional
        self._command = command
        self._parts = parts
        self._sink = sink
        self._restored = restored
        self._start = start
        self._kept = kept
        self._folder = parts.work / "checkpoints"
        self._folder.mkdir()
        self._life = ""
        self._from: Complete | None = None
        self._history = HistoryWriter(parts.history, "checkpoints")
        self._ordinal = 0
        self._complete = 0
        self._positions: Positions = {}
        self._newest: dict[str, int] = {}
        self._supervisor = Supervisor(
            [_JOB],
            lambda _: self._begin(),
            gives_up=partial(TooOften, "the Flink job ended by itself"),
            stop=parts.stop,
        )
        self.watch = CheckpointWatch(self._folder, on_complete=self._completed)

    @property
    def process(self) -> Process | None:
        return self._supervisor.life

    @property
    def life(self) -> str:
        """Name of the checkpoint folder of the current life, or of the last one."""
        return self._life

    def start(self) -> None:
        """Start a life unless one runs, and restart it from now on when it ends by itself."""
        self._supervisor.start()

    def succeed(self) -> None:
        self._supervisor.succeed()

    def kill(self, how: str) -> Process:
        return self._supervisor.kill(_JOB, how)

    def stop(self, how: str) -> Process:
        return self._supervisor.stop(_JOB, how)

    def pause(self) -> Process:
        return self._supervisor.pause(_JOB)

    def running(self) -> Process:
        """Return the current life.

        Raises:
            PipelineTrouble: the job is not running.
        """
        return self._supervisor.running()

    def newest(self) -> int | None:
        return self._newest.get(self._life)

    def sign_of(self, number: int) -> Sign | None:
        """Return the state of a checkpoint of the current life, read from its folder."""
        return sign_of(self._folder / self._life, number)

    @property
    def commits(self) -> int:
        return self._complete

    def alive(self) -> bool:
        return self._supervisor.alive()

    def check(self) -> None:
        """Raise `PipelineTrouble` if the job repeatedly ended by itself.

        Raises:
            WatchTrouble: its checkpoints cannot be watched.
        """
        self.watch.check()
        self._supervisor.check()

    def flows(self) -> bool:
        """Return whether a checkpoint has records, and the next life would start after it.

        The group's offsets are committed later than the checkpoint: a life that starts from them
        and is killed before that would start at the beginning, and lose nothing.
        """
        if not any(self._positions.values()):
            return False
        return self._kept is None or any(commit.offset for commit in self._kept.look())

    def shortly(self) -> str | None:
        found = self.newest()
        return None if found is None else f"checkpoint {found} of {self._life}"

    def positions(self) -> Positions | None:
        return self._positions or None

    def idle(self) -> bool:
        """Return True: an open transaction shows in the sink."""
        return True

    def collect(self, writer: HistoryWriter, recorded: Recorded, sink: Sink) -> None:
        """Write its hazards; its positions were written as they were observed."""
        log = recorded.lines.get("log", [])
        writer.write_all(
            "hazards", hazards(log, topic=self._parts.topic, sink=self._sink, commits=())
        )

    def close(self) -> None:
        self._supervisor.close()
        self.watch.close()
        self._history.close()

    def _begin(self) -> Process:
        before = newest(self._folder / self._life) if self._life else None
        self._from = before or self._from
        self._life = f"life-{1 + sum(p.name == 'job' for p in self._parts.processes.all)}"
        folder = self._folder / self._life
        folder.mkdir()
        restored = self._from if self._restored else None
        if restored is None:
            self._forget_positions()
        settings = checkpointing(folder, restored)
        return self._parts.processes.start("job", self._command(settings), folder=self._parts.work)

    def _forget_positions(self) -> None:
        """Forget the positions of earlier lives: this one does not start from their checkpoints."""
        before, self._positions = self._positions, {}
        if before and self._start is not None:
            self._note(dict.fromkeys(before, self._start), batch=None)

    def _completed(self, life: str, checkpoint: Complete) -> None:
        """Record the checkpoint's positions; ignore a zombie's, from which no later life starts."""
        if life != self._life:
            return
        found = checkpoint.positions(self._parts.topic)
        self._complete += 1
        self._note(found, batch=checkpoint.number)
        self._positions = found
        self._newest[life] = checkpoint.number

    def _note(self, positions: Positions, *, batch: int | None) -> None:
        self._ordinal += 1
        self._history.write_all(
            "positions",
            [
                {
                    "owner": self.name,
                    "instance": self.process.instance if self.process else None,
                    "role": "resume",
                    "kind": "done",
                    "by": "subject",
                    "sink": None,
                    "topic": topic,
                    "partition": partition,
                    "offset": offset,
                    "batch": batch,
                    "ordinal": self._ordinal,
                    "at": now(),
                    "clock": clock_id(),
                }
                for (topic, partition), offset in positions.items()
            ],
        )
