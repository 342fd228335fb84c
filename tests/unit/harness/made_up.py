"""A fault and a context that are made up, with the few parts that lines and conductors use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

from onceproof.harness.clock import now
from onceproof.harness.context.pipeline import NoPipeline
from onceproof.harness.context.recorder import Recorder
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.history.events import Event, FaultChanged
from onceproof.harness.history.tables import read_lines
from onceproof.harness.schedule.scenario import ScheduledFault
from onceproof.harness.wait import Stop

Look = Callable[[], str | None]


@dataclass(frozen=True, kw_only=True)
class Fault:
    """Notes what is done to it in `story`; each part can be told to raise."""

    kind: ClassVar[str] = "crash"
    needs: ClassVar[str | None] = None
    name: str
    story: list[str] = field(default_factory=list)
    injected: list[SimpleNamespace] = field(default_factory=list)
    evidence: Look = lambda: "it bled"
    on_inject: Callable[[], None] = lambda: None
    on_heal: Callable[[], None] = lambda: None
    at: Callable[[], int | None] | None = None

    def describe(self) -> str:
        return f"do {self.name}"

    def inject(self, context: RunContext, name: str) -> Any:
        assert name.startswith(self.name)
        self.story.append(f"inject {name}")
        self.on_inject()

        def heal() -> None:
            self.story.append(f"heal {name}")
            self.on_heal()

        self.injected.append(
            injection := SimpleNamespace(
                target=f"target of {name}",
                at=now() if self.at is None else self.at(),
                evidence=self.evidence,
                heal=heal,
                after_collect=lambda known: self.story.append(f"after_collect {name}"),
            )
        )
        return injection


@dataclass
class World:
    """A context with the few parts that a conductor uses."""

    history: Path
    producers: SimpleNamespace
    stop: Stop
    recorder: Recorder
    events: list[Event]
    stage: SimpleNamespace
    effective: list[bool] = field(default_factory=list)
    """Whether a fault takes effect, as a test wants it."""

    @property
    def context(self) -> RunContext:
        return RunContext(
            stage=self.stage, subject=None, pipeline=NoPipeline(), producers=self.producers,
            recorder=self.recorder, topics=("payments",),
            stop=self.stop, topic="payments", work=self.history,
        )  # type: ignore[arg-type]  # fmt: skip

    def rows(self) -> dict[str, dict[str, Any]]:
        table = read_lines(self.history).tables["faults"].to_pylist()
        return {row["fault"]: row for row in table}

    def hazards(self) -> list[dict[str, Any]]:
        return read_lines(self.history).tables["hazards"].to_pylist()

    def states(self, fault: str) -> list[str]:
        changes = [e for e in self.events if isinstance(e, FaultChanged)]
        return [e.state for e in changes if e.fault == fault]


def world_in(history: Path) -> World:
    events: list[Event] = []
    return World(
        history=history,
        producers=SimpleNamespace(
            progress=1.0,
            acknowledged=100,
            finished=False,
            kept=(kept := []),
            keep_for=kept.append,
            enough=lambda: kept.append("enough"),
        ),
        stop=Stop(),
        recorder=Recorder(history, [events.append]),
        events=events,
        stage=SimpleNamespace(disturbed=dict),
    )


def at(fault: Fault, **more: Any) -> ScheduledFault:
    return ScheduledFault(name=fault.name, do=fault, **more)


def fail(error: BaseException) -> Callable[[], Any]:
    def raising() -> None:
        raise error

    return raising
