"""A Flink job that writes the records of a trial, with a fee, elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Final

from onceproof.harness.explore.bench.lanes.copier import CopierLane
from onceproof.harness.kafka.group_offsets import Commit
from onceproof.harness.kafka.log_reader import LogReader, UnreadableLog
from onceproof.harness.processes.processes import Process
from onceproof.harness.subjects.flink.checkpoints import Complete, newest
from onceproof.harness.subjects.flink.job import Command, checkpointing
from onceproof.harness.subjects.flink.subject import Flink

_ADDRESS: Final = "127.0.0.1"
_TIMEOUT_MS: Final = 60_000
"""Longer than a restart takes, and shorter than what is waited for open transactions."""


@dataclass(kw_only=True)
class FlinkLane(CopierLane):
    """A job with a task, restarted from the newest checkpoint of its life before.

    Its offsets are those of its checkpoints; it does not commit them to the group.
    """

    role: ClassVar[str] = "job"
    comes_back_by: ClassVar[str] = "EndTxn"
    at_once: ClassVar[bool] = False
    _from: Complete | None = field(default=None, init=False)
    """The newest checkpoint, from which the next life starts."""
    _offsets: list[Commit] = field(default_factory=list, init=False)
    """Those of the checkpoints, which a job removes when it has completed many others."""

    def client_ids(self, life: int) -> str:
        return f"{self.name}-{life}-*"

    @cached_property
    def _command(self) -> Command:
        around = self.around
        temporary = around.work / f"flink-{self.name}"
        temporary.mkdir()
        return Flink(job=self.name, into=self.name, transaction_timeout_ms=_TIMEOUT_MS).launcher(
            around.tools,
            temporary=temporary,
            address=_ADDRESS,
            topic=self.source,
            source=around.bootstrap,
            sink=around.bootstrap,
        )

    def _begin(self, member: str, client_id: str) -> Process:
        self._note_newest()
        self._checkpoints(client_id).mkdir()
        settings = {
            "flink.parallelism.default": "1",
            "source.client.id.prefix": client_id,
            "source.commit.offsets.on.checkpoint": "false",
            "sink.client.id": f"{client_id}-sink",
            **checkpointing(self._checkpoints(client_id), self._from),
        }
        return self.around.processes.start(client_id, self._command(settings))

    def _checkpoints(self, life: str) -> Path:
        return self.around.work / f"checkpoints-{life}"

    def _note_newest(self) -> None:
        """Note the newest checkpoint of the current life."""
        found = newest(self._checkpoints(self.lives[-1].name)) if self.lives else None
        if found is not None and found != self._from:
            self._from = found
            self._offsets += [
                Commit(topic=topic, partition=partition, offset=offset, transactional=False)
                for (topic, partition), offset in found.positions(self.source).items()
            ]

    def _committed(self) -> bool:
        """Return whether a checkpoint has all inputs so far, and its transactions have ended."""
        if not super()._committed():
            return False
        try:
            with self.around.reader() as reader:
                return all(stable == end for stable, end in reader.ends(self.name).values())
        except UnreadableLog:
            return False  # the broker is the one that fails

    def _offsets_so_far(self) -> Mapping[int, int]:
        """Return the offsets of the newest checkpoint of the current life."""
        found = newest(self._checkpoints(self.lives[-1].name))
        offsets = {} if found is None else found.positions(self.source)
        return {partition: offset for (_, partition), offset in offsets.items()}

    def positions(self, reader: LogReader) -> list[Commit]:
        """Return the offsets of the checkpoints that lives started from, and of the newest."""
        self._note_newest()
        return self._offsets

    @property
    def atomic_with(self) -> tuple[str, ...]:
        return ()
