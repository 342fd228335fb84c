"""A Flink job of a run: one process, restarted from its last checkpoint as an operator does it.

Each life has a folder of its own for checkpoints, and starts from the newest
complete one of the life before, or from that life's own beginning if it completed none. So a zombie
that goes on completing checkpoints changes nothing for those who came after it. A job that ends by
itself is started again likewise; one that a fault has ended waits for its healing.
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
"""How it is called in messages."""
Command = Callable[[Mapping[str, str]], list[str | Path]]
"""How a life is started, given settings of Flink's that are its own."""


class FlinkJob:
    """The lives of one job, and their checkpoints."""

    counted = "complete checkpoints"
    awaited = "a first checkpoint with records to be complete"

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
        """Make the folder of its checkpoints and watch it; nothing is started yet.

        Args:
            name: whose positions these are, and what its transactional ids begin with.
            restored: whether a life starts from the last checkpoint of the one before.
            start: the offset at which it starts without one; None: that is not known beforehand.
            kept: where it starts without one, if positions of its group say that.
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
        """The life that runs, or ran last."""
        return self._supervisor.life

    @property
    def life(self) -> str:
        """Name of the folder of the life that runs, or ran last."""
        return self._life

    def start(self) -> None:
        """Start a life, unless one runs, and look after it from now on."""
        self._supervisor.start()

    def succeed(self) -> None:
        """Start another life, whatever becomes of the one that runs."""
        self._supervisor.succeed()

    def kill(self, how: str) -> Process:
        """SIGKILL it; it stays down until `start`."""
        return self._supervisor.kill(_JOB, how)

    def stop(self, how: str) -> Process:
        """Ask it to end; it stays down until `start`."""
        return self._supervisor.stop(_JOB, how)

    def pause(self) -> Process:
        return self._supervisor.pause(_JOB)

    def running(self) -> Process:
        """The life that runs.

        Raises:
            PipelineTrouble: none does.
        """
        return self._supervisor.running()

    def newest(self) -> int | None:
        """Number of the newest complete checkpoint of the life that runs; None if it has none."""
        return self._newest.get(self._life)

    def sign_of(self, number: int) -> Sign | None:
        """How far a checkpoint of the life that runs is, as its folder has it now."""
        return sign_of(self._folder / self._life, number)

    @property
    def commits(self) -> int:
        return self._complete

    def alive(self) -> bool:
        return self._supervisor.alive()

    def check(self) -> None:
        """Raise `PipelineTrouble` if it ends by itself again and again.

        Raises:
            WatchTrouble: it cannot be watched.
        """
        self.watch.check()
        self._supervisor.check()

    def flows(self) -> bool:
        """Whether a checkpoint with records is complete, and another life would start behind it.

        Positions of its group are committed some time after: a life that is killed before that, and
        starts from them, would begin anew and miss nothing.
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
        """Always as far as can be seen: an open transaction shows in the sink."""
        return True

    def collect(self, writer: HistoryWriter, recorded: Recorded, sink: Sink) -> None:
        """What put it to the test; its positions were written as they came."""
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
        settings = {"execution.checkpointing.dir": f"file://{folder}"}
        if self._restored and self._from is not None:
            settings["execution.state-recovery.path"] = f"file://{self._from.folder}"
        else:
            self._starts_anew()
        return self._parts.processes.start("job", self._command(settings), folder=self._parts.work)

    def _starts_anew(self) -> None:
        """What a life before has completed is no position any more: it is where this one starts."""
        before, self._positions = self._positions, {}
        if before and self._start is not None:
            self._note(dict.fromkeys(before, self._start), batch=None)

    def _completed(self, life: str, checkpoint: Complete) -> None:
        """Note where it is; what a zombie completes is where nobody will start."""
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
