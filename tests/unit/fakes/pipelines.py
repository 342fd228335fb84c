"""Pipelines of the real classes, which start nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from onceproof.harness.context.pipeline import PipelineParts, PipelineTrouble
from onceproof.harness.processes.processes import Process, Processes
from onceproof.harness.processes.sweep import new_marker
from onceproof.harness.subjects.crash_point_trigger import StruckProcess
from onceproof.harness.subjects.spark.pipeline import SparkPipeline
from onceproof.harness.subjects.supervisor import Supervisor
from onceproof.harness.tools.setup import Tools
from onceproof.harness.user_pipeline.program import Program
from onceproof.harness.wait import Stop
from tests.unit.fakes.process import FakeProcess
from tests.unit.fakes.stage import FakeStage


class FakeDriver(SparkPipeline):
    """A Spark pipeline that has what it is given; the rest is of a driver that does nothing."""

    def __init__(self, **parts: Any) -> None:
        self.process: Process | None = None
        self.sink_log: Path | None = None
        self.lives = 1
        self._stop = Stop()
        self.__dict__.update(parts)

    def start(self) -> None:
        self.lives += 1
        self.process = FakeProcess(f"driver#{self.lives}")

    def check_watch(self) -> None:
        """Nobody watches."""


@dataclass(kw_only=True)
class FakeTrigger:
    """A crash-point trigger that has hit when a test says so."""

    hit: StruckProcess | None = None
    error: Exception | None = None

    def end(self) -> None:
        """It waits for nobody."""


class FakeSupervisor(Supervisor):
    """Keeps one process called `pipeline`, whose life is what a test says."""

    def __init__(self, process: Process | None = None, *, trouble: str | None = None) -> None:
        super().__init__(["pipeline"], _begins_nothing, gives_up=lambda: lambda _: None)
        self._trouble = trouble
        if process is not None:
            self.lives_as(process)

    def lives_as(self, process: Process) -> None:
        """This is its life from now on."""
        self._running[self.names[0]] = process

    def start(self) -> None:
        _begins_nothing(self.names[0])


def _begins_nothing(name: str) -> NoReturn:
    raise PipelineTrouble("a fake does not start")


class FakeProgram(Program):
    """A user's pipeline, with a look at its outputs that a test makes up."""

    def __init__(self, look: Any = None, supervisor: Supervisor | None = None) -> None:
        super().__init__(supervisor or FakeSupervisor(), look, Stop())


def parts_in(
    folder: Path,
    *,
    stage: FakeStage | None = None,
    processes: Processes | None = None,
    stop: Stop | None = None,
) -> PipelineParts:
    """What a pipeline is made from, with one folder for all that it writes."""
    return PipelineParts(
        stage=stage or FakeStage(),
        tools=Tools(java_home=Path("/jdk"), spark_kafka_jars=(), stage=None),
        processes=processes or Processes(new_marker(), folder),
        work=folder,
        history=folder,
        address="127.0.0.1",
        topic="payments",
        seed=0,
        stop=stop or Stop(),
    )
