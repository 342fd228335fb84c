"""Kill the Spark driver after its job has written an exact number of rows of a micro-batch.

The job's hook (`harness/subjects/spark/jobs/hook.py`) makes it wait there; a job without the hook
is never hit. A correct sink hides the partial write, or recognizes it when the batch runs again.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.spark.between_batches import start_again
from onceproof.harness.faults.spark.driver import driver, sink_of_batches


class KilledAtRow:
    """A driver that was killed after its job had written some rows of a batch."""

    def __init__(self, context: RunContext, row: int, name: str) -> None:
        self._context = context
        self._row = row
        self._name = name
        self.target = "driver"
        self.at: int | None = None
        self._batch: int | None = None
        self._count = self._present = self._planned = 0
        self._proof: str | None = None
        self._over = False
        self._folder: Path = driver(context).checkpoint.folder.parent / "hook"
        self._folder.mkdir(exist_ok=True)
        self._remove_files()
        draft = self._folder / ".stop.tmp"
        draft.write_text(json.dumps({"row": row}))
        draft.rename(self._folder / "stop")

    def evidence(self) -> str | None:
        pipeline = driver(self._context)
        if self._batch is None:
            with suppress(FileNotFoundError):
                reached = json.loads((self._folder / "reached").read_text())
                process = pipeline.process
                self.target = process.instance if process else "driver"
                self.at = now()
                self._count = pipeline.kill(f"SIGKILL by fault «{self._name}»")
                self._batch = int(reached["batch"])
                self._remove_files()
        if self._batch is not None and self._proof is None:
            self._present, self._planned = sink_of_batches(self._context).of(self._batch)
            committed = self._batch in pipeline.checkpoint.committed()
            if not committed and self._row <= self._planned:
                self._proof = (
                    f"{self.target} and all its {self._count} processes ended by signal 9, when "
                    f"its job had written {self._row} of the {self._planned} rows of micro-batch "
                    f"{self._batch}; the sink showed {self._present} of them, and the batch had "
                    "no commit"
                )
        return self._proof

    def heal(self) -> None:
        """Let the job continue, or restart it and wait until the batch is committed."""
        self._remove_files()
        if self._batch is None:
            return  # it was never killed
        start_again(self._context)
        pipeline = driver(self._context)
        pipeline.wait_batch(self._batch, seconds=150)
        if not self._over and self._proof is not None:
            # For readers of the sink, a batch without visible effects was not replayed.
            hazard = "replayed-batch" if self._present else "interrupted-write"
            self._context.recorder.hazard(
                hazard,
                hop="process",
                fault=self._name,
                owner=pipeline.checkpoint.query_id(),
                batch=self._batch,
                detail=(
                    f"micro-batch {self._batch} ran again after its write was interrupted after "
                    f"row {self._row}; {self._present} effects were visible in the sink"
                ),
            )
        self._over = True

    def _remove_files(self) -> None:
        """Remove the files that would make a job wait."""
        for name in ("stop", "reached"):
            (self._folder / name).unlink(missing_ok=True)
