"""A bare lab: a stage for programs of the user's own, without workload and pipeline of ours.

It is a lab in every other respect. It claims nothing, so there is nothing to
judge; its folder says what was done to the stage, when, and what proves it.
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
from onceproof.harness.sinks.nothing import Nothing
from onceproof.harness.workload.payments import Payments


@dataclass(frozen=True, kw_only=True)
class Nobody(SubjectBase):
    """The place of a subject where there is none."""

    name = "none"
    says = "No pipeline of ours: the programs on this stage were somebody else's."
    sink = ""
    sinks = ()
    view = ""

    def pipeline(self, parts: PipelineParts) -> NoPipeline:
        return NoPipeline()

    def open_sink(self, *, database: str, reader: LogReader, work: Path) -> Sink:
        return Nothing()


class BareRun(Run):
    """A run of a stage alone."""

    def _phases(self, parts: RunAssembly) -> None:
        """Nothing flows of ours, so nothing has to warm up, to settle, or to be collected."""
        phase = self._recorder.phase
        with phase("arrange"):
            context = parts.arrange()
        conductor = self._conduct((), context)
        with phase("disturb"):
            conductor.carry_out()
        with phase("heal"):
            self._heal(context)


def bare(topics: Sequence[Topic]) -> Scenario:
    """The scenario of a bare lab with these topics, at least one."""
    first, *others = topics
    return Scenario(
        name="bare",
        title="A stage for programs of your own, broken by hand",
        subject=Nobody(),
        workload=Payments(records=0, producers=1, topic=first.name, partitions=first.partitions),
        topics=tuple(others),
        schedule=(),
        claims=(),
    )
