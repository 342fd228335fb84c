"""A fake fault, and a run context that records a history."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from onceproof.harness.clock import now
from onceproof.harness.context.pipeline import NoPipeline
from onceproof.harness.context.recorder import Recorder
from onceproof.harness.context.run_context import Collected, RunContext
from onceproof.harness.history.events import Event, FaultChanged, Handler
from onceproof.harness.history.tables import read_lines
from onceproof.harness.schedule.scenario import ScheduledFault
from onceproof.harness.wait import Stop
from tests.unit.fakes.run_context import FakeContext, FakeProducers
from tests.unit.fakes.stage import FakeStage

Look = Callable[[], str | None]


@dataclass(kw_only=True)
class Injected:
    """An injected fault, as its execution sees it."""

    name: str
    target: str
    at: int | None
    evidence: Look
    heal: Callable[[], None]
    story: list[str]

    def after_collect(self, known: Collected) -> None:
        self.story.append(f"after_collect {self.name}")


@dataclass(frozen=True, kw_only=True)
class Fault:
    """Records its calls in `story`; each step can be made to raise."""

    kind: ClassVar[str] = "crash"
    needs = None
    name: str
    story: list[str] = field(default_factory=list)
    injected: list[Injected] = field(default_factory=list)
    evidence: Look = lambda: "it bled"
    on_inject: Callable[[], None] = lambda: None
    on_heal: Callable[[], None] = lambda: None
    at: Callable[[], int | None] | None = None

    def describe(self) -> str:
        return f"do {self.name}"

    def inject(self, context: RunContext, name: str) -> Injected:
        assert name.startswith(self.name)
        self.story.append(f"inject {name}")
        self.on_inject()

        def heal() -> None:
            self.story.append(f"heal {name}")
            self.on_heal()

        self.injected.append(
            injection := Injected(
                name=name,
                target=f"target of {name}",
                at=now() if self.at is None else self.at(),
                evidence=self.evidence,
                heal=heal,
                story=self.story,
            )
        )
        return injection


@dataclass
class World:
    """The parts of a run context, and what it recorded."""

    history: Path
    recorder: Recorder
    events: list[Event]
    producers: FakeProducers = field(default_factory=FakeProducers)
    stop: Stop = field(default_factory=Stop)
    stage: FakeStage = field(default_factory=FakeStage)
    effective: list[bool] = field(default_factory=list)
    """Set by tests: whether a fault takes effect."""

    @property
    def context(self) -> RunContext:
        return FakeContext(
            stage=self.stage, pipeline=NoPipeline(), producers=self.producers,
            recorder=self.recorder, stop=self.stop, work=self.history,
        )  # fmt: skip

    def rows(self) -> dict[str, dict[str, Any]]:
        table = read_lines(self.history).tables["faults"].to_pylist()
        return {row["fault"]: row for row in table}

    def hazards(self) -> list[dict[str, Any]]:
        return read_lines(self.history).tables["hazards"].to_pylist()

    def states(self, fault: str) -> list[str]:
        changes = [e for e in self.events if isinstance(e, FaultChanged)]
        return [e.state for e in changes if e.fault == fault]


def world_in(history: Path, *handlers: Handler) -> World:
    events: list[Event] = []
    recorder = Recorder(history, [*handlers, events.append])
    return World(history=history, recorder=recorder, events=events)


def at(fault: Fault, **more: Any) -> ScheduledFault:
    return ScheduledFault(name=fault.name, do=fault, **more)


def fail(error: BaseException) -> Callable[[], Any]:
    def raising() -> None:
        raise error

    return raising
