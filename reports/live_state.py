"""The state of a run in progress, computed from events; `onceproof.reports.live_view` draws it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final

from onceproof.harness.history import events
from onceproof.harness.history.events import Event

PHASES: Final = ("arrange", "warm-up", "disturb", "heal", "settle", "collect", "tear-down", "judge")
"""In order. `judge` is not a phase of the run: it follows when everything is torn down."""
_OVER: Final = ("healed", "failed")
_LOOK_BACK: Final = 5_000_000_000
"""Nanoseconds over which throughput is averaged."""


@dataclass(kw_only=True)
class Phase:
    """One phase; `began` is in nanoseconds of the run's clock."""

    began: int
    seconds: float | None = None
    outcome: str | None = None


@dataclass(kw_only=True)
class Fault:
    """The current state of one fault."""

    state: str
    detail: str
    took_effect: bool = False

    @property
    def over(self) -> bool:
        """Whether it was healed or failed."""
        return self.state in _OVER


@dataclass(kw_only=True)
class RunState:
    """The state of the run."""

    scenario: str = ""
    seed: int | None = None
    began: int | None = None
    phases: dict[str, Phase] = field(default_factory=dict)
    acknowledged: int = 0
    total: int | None = None
    pipeline: str | None = None
    faults: dict[str, Fault] = field(default_factory=dict)
    hazards: int = 0
    findings: dict[str, int] = field(default_factory=dict)
    _progress: deque[tuple[int, int]] = field(default_factory=deque)

    def hear(self, event: Event) -> None:
        self.began = event.at if self.began is None else self.began
        match event:
            case events.RunStarted():
                self.scenario, self.seed = event.scenario, event.seed
            case events.PhaseStarted():
                self.phases[event.phase] = Phase(began=event.at)
            case events.PhaseEnded():
                phase = self.phases.setdefault(event.phase, Phase(began=event.at))
                phase.seconds, phase.outcome = event.seconds, event.outcome
                if event.phase == PHASES[-2]:
                    self.phases[PHASES[-1]] = Phase(began=event.at)
            case events.Progress():
                self._update_progress(event)
            case events.FaultChanged():
                before = self.faults.get(event.fault)
                effective = before is not None and before.took_effect
                self.faults[event.fault] = Fault(
                    state=event.state,
                    detail=event.detail,
                    took_effect=effective or event.state == "took effect",
                )
            case events.HazardObserved():
                self.hazards += 1
            case events.Judged():
                self.findings = {f.anomaly: f.count for f in event.judgement.findings}
                if (judging := self.phases.get(PHASES[-1])) is not None:
                    judging.seconds = (event.at - judging.began) / 1e9
                    judging.outcome = "ok"
            case _:
                pass

    @property
    def throughput(self) -> float | None:
        """Recently acknowledged records per second; None if unknown."""
        if len(self._progress) < 2:
            return None
        (since, first), (until, last) = self._progress[0], self._progress[-1]
        return (last - first) / ((until - since) / 1e9) if until > since else None

    def _update_progress(self, event: events.Progress) -> None:
        self.acknowledged, self.total = event.acknowledged, event.total
        self.pipeline = event.pipeline
        self._progress.append((event.at, event.acknowledged))
        while event.at - self._progress[0][0] > _LOOK_BACK:
            self._progress.popleft()
