"""A PySpark pipeline whose driver is restarted by a supervisor when it ends by itself."""

from __future__ import annotations

from onceproof.harness.subjects.spark.pipeline import SparkPipeline
from onceproof.harness.subjects.supervisor import Supervisor


class SupervisedSpark(SparkPipeline):
    """A subclass sets `_supervisor`, whose policy says when a failing driver is given up."""

    _supervisor: Supervisor

    def start(self) -> None:
        self._supervisor.start()

    def check(self) -> None:
        """Raise `PipelineTrouble` if the driver was given up.

        Raises:
            WatchTrouble: its checkpoint cannot be watched.
        """
        self.check_watch()
        self._supervisor.check()

    def close(self) -> None:
        self._supervisor.close()
        super().close()
