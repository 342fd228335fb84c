"""A bare lab: a stage for the user's own programs, without our workload and pipeline.

It has no claims, so nothing is judged; its folder records the faults, their times and evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from onceproof.harness.context.pipeline import NoPipeline, PipelineParts
from onceproof.harness.context.subject import SubjectBase
from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.kafka.topic import Topic
from onceproof.harness.run.arrange import RunAssembly
from onceproof.harness.run.phases import Run
from onceproof.harness.schedule.scenario import Scenario
from onceproof.harness.sinks.base import Sink
from onceproof.harness.sinks.nothing import EmptySink
from onceproof.harness.workload.payments import Payments


@dataclass(frozen=True, kw_only=True)
class NoSubject(SubjectBase):
    """Placeholder for a missing subject."""

    name = "none"
    says = "No onceproof pipeline: the stage serves your own programs."
    sink = ""
    sinks = ()
    view = ""

    def pipeline(self, parts: PipelineParts) -> NoPipeline:
        return NoPipeline()

    def open_sink(self, *, database: str, reader: LogReader, work: Path) -> Sink:
        return EmptySink()


class BareRun(Run):
    """A run with a stage only."""

    def _phases(self, parts: RunAssembly) -> None:
        """Skip warm-up, settle and collect, because there is no workload."""
        phase = self._recorder.phase
        with phase("arrange"):
            context = parts.arrange()
        conductor = self._conduct((), context)
        with phase("disturb"):
            conductor.carry_out()
        with phase("heal"):
            self._heal(context)


def bare(topics: Sequence[Topic]) -> Scenario:
    """Return the scenario of a bare lab with these topics, at least one."""
    first, *others = topics
    return Scenario(
        name="bare",
        title="A stage for your own programs, with faults injected by hand",
        subject=NoSubject(),
        workload=Payments(records=0, producers=1, topic=first.name, partitions=first.partitions),
        topics=tuple(others),
        schedule=(),
        claims=(),
    )
