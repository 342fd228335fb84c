"""One fake of a run's context, and of the parts in it that are no stage.

Every part is a real class or a small one of the same type that works in memory, so a test says only
what it is about: `FakeContext(pipeline=FakePipeline(commits=3))`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from onceproof.harness.context.pipeline import NoPipeline, Pipeline, PipelineParts
from onceproof.harness.context.recorder import Recorder
from onceproof.harness.context.run_context import RunContext, addresses
from onceproof.harness.context.subject import Subject, SubjectBase
from onceproof.harness.history.events import Event
from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.kafka.metadata import ClusterView
from onceproof.harness.sinks.base import AtomicBatch, Effect, Sink, State
from onceproof.harness.wait import Stop
from onceproof.harness.workload.base import Workload
from onceproof.harness.workload.control import Producers
from onceproof.harness.workload.pace import Pace
from onceproof.harness.workload.payments import Payments
from tests.unit.fakes.logs import FakeReader
from tests.unit.fakes.stage import FakeStage, FakeView


class FakeStop(Stop):
    """Time that passes only while somebody waits, and then at once."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now

    def pause(self, seconds: float) -> None:
        self.check()
        self.now += seconds


class FakePipeline(NoPipeline):
    """A pipeline that runs and has committed as often as a test says."""

    def __init__(self, *, commits: int = 0, alive: bool = True) -> None:
        self.commits = commits
        self.runs = alive

    def alive(self) -> bool:
        return self.runs


class FakePace(Pace):
    """Notes what was asked of it, in `story` and in `kept_for`."""

    def __init__(self, story: list[str]) -> None:
        super().__init__(Payments(), FakeStop())
        self.story = story
        self.kept_for: list[int] = []

    def keep_for(self, faults: int) -> None:
        self.kept_for.append(faults)

    def hurry(self) -> None:
        self.story.append("hurry")


class FakeProducers(Producers):
    """Producers that have sent as much as a test says; `story` is what they were asked for."""

    acknowledged = 100
    progress = 1.0
    finished = False
    keeps_sentinels = False
    rounds = 1
    """How many rounds of sentinels there are."""
    pace: FakePace

    def __init__(
        self,
        *,
        acknowledged: int = 100,
        finished: bool = False,
        workload: Workload | None = None,
        keeps_sentinels: bool = False,
    ) -> None:
        self.workload = workload or Payments()
        self.total = self.workload.records
        self.acknowledged = acknowledged
        self.finished = finished
        self.keeps_sentinels = keeps_sentinels
        self.story: list[str] = []
        self.pace = FakePace(self.story)

    def enough(self) -> None:
        self.story.append("enough")

    def send_sentinels(self) -> None:
        self.story.append("sentinels")
        self.rounds -= 1
        self.keeps_sentinels = self.rounds > 0

    def wait_finished(self, seconds: float, *, still: float | None = None) -> None:
        self.story.append("finished")


@dataclass(frozen=True)
class Hazard:
    """A hazard as it was recorded."""

    hazard: str
    hop: str
    detail: str
    at: int | None
    fault: str | None
    owner: str | None
    batch: int | None
    attempts: Sequence[str | None]


class FakeRecorder(Recorder):
    """Keeps hazards and events instead of writing them."""

    def __init__(self) -> None:
        self.hazards: list[Hazard] = []
        self.events: list[Event] = []

    @property
    def seen(self) -> list[tuple[str, str]]:
        """Name and detail of each hazard."""
        return [(each.hazard, each.detail) for each in self.hazards]

    def emit(self, event: Event) -> None:
        self.events.append(event)

    def hazard(
        self,
        hazard: str,
        *,
        hop: str,
        detail: str,
        at: int | None = None,
        fault: str | None = None,
        owner: str | None = None,
        batch: int | None = None,
        attempts: Sequence[str | None] = (None,),
    ) -> None:
        self.hazards.append(Hazard(hazard, hop, detail, at, fault, owner, batch, attempts))

    def met(self, hazard: str) -> int:
        return sum(each.hazard == hazard for each in self.hazards)

    def close(self) -> None:
        """There is no file."""


def effect(
    record: str | None, *, batch: int | None = None, owner: str | None = None, position: str = "row"
) -> Effect:
    """An effect of a record in a sink."""
    return Effect(
        sink="ledger",
        view="committed",
        record=record,
        effect_key="",
        digest="",
        position=position,
        ordinal=0,
        owner=owner,
        batch=batch,
    )


@dataclass(kw_only=True)
class FakeSink:
    """A sink that has what a test put into it."""

    name: str = "ledger"
    there: list[Effect] = field(default_factory=list)
    sums: list[State] = field(default_factory=list)
    done: list[AtomicBatch] = field(default_factory=list)

    def size(self) -> int:
        return len(self.there)

    def effects(self) -> list[Effect]:
        return self.there

    def states(self) -> list[State]:
        return self.sums

    def atomic_batches(self) -> list[AtomicBatch]:
        return self.done

    def hanging(self) -> bool:
        return False


@dataclass(kw_only=True)
class FakeSinkOfSums(FakeSink):
    """One whose rows tell only of which micro-batches they are."""

    shown: frozenset[int] = frozenset()

    def batches(self) -> frozenset[int]:
        return self.shown


@dataclass(kw_only=True)
class FakeSubject(SubjectBase):
    """A subject that has what a test says, and runs nothing."""

    name: str = "somebody"
    says: str = ""
    sink: str = "ledger"
    sinks: tuple[str, ...] = ("ledger",)
    balances: bool = False
    view: str = "committed"
    output_topic: str | None = None
    sends: bool = False
    offers: frozenset[str] = frozenset()
    plain_text: bool = False

    def pipeline(self, parts: PipelineParts) -> Pipeline:
        return NoPipeline()

    def open_sink(self, *, database: str, reader: LogReader, work: Path) -> Sink:
        return FakeSink()


@dataclass(frozen=True, kw_only=True)
class FakeContext(RunContext):
    """A run's context whose parts are fakes, as far as a test does not give others.

    Attributes:
        logs: what `reader` opens.
        sink: what `open_sink` opens; an exception is raised.
    """

    stage: FakeStage = field(default_factory=FakeStage)
    subject: Subject = field(default_factory=FakeSubject)
    pipeline: Pipeline = field(default_factory=FakePipeline)
    producers: FakeProducers = field(default_factory=FakeProducers)
    recorder: Recorder = field(default_factory=FakeRecorder)
    stop: Stop = field(default_factory=FakeStop)
    topic: str = "payments"
    topics: tuple[str, ...] = ("payments",)
    work: Path = Path("/nowhere")
    logs: LogReader = field(default_factory=FakeReader)
    sink: Sink | Exception = field(default_factory=FakeSink)

    def view(self, *, without: int | None = None) -> ClusterView:
        return FakeView(self.stage)

    def views(self) -> dict[int, ClusterView]:
        return {node: FakeView(self.stage, node) for node in addresses(self.stage)}

    def reader(self) -> LogReader:
        return self.logs

    def open_sink(self, reader: LogReader) -> Sink:
        if isinstance(self.sink, Exception):
            raise self.sink
        return self.sink
