"""A PySpark pipeline whose driver ends when all input is processed, and is started again.

A driver that ends normally is restarted, as a scheduler does. One that a fault has killed stays
down until the fault heals; one that fails is the pipeline's failure.
"""

from __future__ import annotations

from typing import Any, Final

from onceproof.harness.history.tables import Recorded
from onceproof.harness.history.writer import HistoryWriter
from onceproof.harness.processes.processes import Process
from onceproof.harness.sinks.base import Sink
from onceproof.harness.subjects.counted import counted
from onceproof.harness.subjects.spark.pipeline import SparkPipeline
from onceproof.harness.subjects.spark.supervised import SupervisedSpark
from onceproof.harness.subjects.supervisor import Supervisor

WORKED_OFF: Final = "worked-off"
"""The driver ended after processing its input, and was started again."""


class SparkPipelineAgain(SupervisedSpark):
    """The successive lives of one run's driver."""

    def __init__(self, **parts: Any) -> None:
        super().__init__(**parts)
        self._supervisor = Supervisor(
            ["the driver"],
            self._begin,
            gives_up=lambda: _failed,
            whole=True,
            stop=self._stop,
        )

    def collect(self, writer: HistoryWriter, recorded: Recorded, sink: Sink) -> None:
        """Write what every driver writes, and its number of restarts, which end now."""
        self._supervisor.close()
        super().collect(writer, recorded, sink)
        text = "restarts of the driver after it had processed its input and exited"
        writer.write_all("hazards", counted((WORKED_OFF, self._supervisor.restarts, text)))

    def _begin(self, _: str) -> Process:
        SparkPipeline.start(self)
        assert self.process is not None
        return self.process


def _failed(process: Process) -> str | None:
    if process.popen.returncode == 0:
        return None
    return f"{process.instance} {process.how}; last output: {process.tail()}"
