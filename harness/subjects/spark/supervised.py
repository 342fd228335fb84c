"""A PySpark pipeline whose driver a supervisor starts, and starts again when it ends by itself."""

from __future__ import annotations

from onceproof.harness.subjects.spark.pipeline import SparkPipeline
from onceproof.harness.subjects.supervisor import Supervisor


class SupervisedSpark(SparkPipeline):
    """A subclass sets `_supervisor`, whose policy says when a failing driver is given up."""

    _supervisor: Supervisor

    def start(self) -> None:
        """Start a life of the driver, unless it runs, and see to the next ones from now on."""
        self._supervisor.start()

    def check(self) -> None:
        """Raise `PipelineTrouble` if the driver was given up.

        Raises:
            WatchTrouble: its checkpoint cannot be watched.
        """
        self.check_watch()
        self._supervisor.check()

    def close(self) -> None:
        """Start nothing any more, and end the watch."""
        self._supervisor.close()
        super().close()
