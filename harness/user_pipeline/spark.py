"""A user's Spark pipeline: its checkpoint shows its progress, and when to inject faults.

The job is started by its own command with its own settings; only the checkpoint is in a folder
that the harness watches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from onceproof.harness.context.pipeline import PipelineParts, PipelineTrouble
from onceproof.harness.processes.processes import Process
from onceproof.harness.subjects.spark.supervised import SupervisedSpark
from onceproof.harness.user_pipeline.command import keep_running

_SECONDS_TO_LEAVE: Final = 60.0
"""Writing a class archive takes about ten seconds of one core."""


class OwnSpark(SupervisedSpark):
    """The driver of the job, kept running."""

    def __init__(
        self,
        *,
        command: Sequence[str],
        checkpoint: Path,
        parts: PipelineParts,
        environment: Mapping[str, str],
        folder: Path,
    ) -> None:
        """As `SparkPipeline`; `command` is complete, and runs in `folder`."""
        super().__init__(command=command, checkpoint=checkpoint, parts=parts, jars=())
        self._supervisor = keep_running(
            "driver",
            command,
            processes=parts.processes,
            environment=environment,
            folder=folder,
            progress=lambda: self.commits,
            began=self._began,
        )

    def leave(self) -> None:
        """Ask the driver to end, with enough time to write its class archive."""
        with suppress(PipelineTrouble):
            self.running().stop("asked to end after its dry run", seconds=_SECONDS_TO_LEAVE)

    def _began(self, process: Process) -> None:
        self.process = process
