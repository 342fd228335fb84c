"""The live view of a run on a terminal, drawn by rich's thread; events scroll above it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from onceproof.harness.clock import now
from onceproof.harness.history.events import Event
from onceproof.reports.live_state import PHASES, Fault, Phase, RunState
from onceproof.reports.text import line, number, plural

_BAR: Final = 32
_FAULTS: Final = 6
"""Maximum number of faults shown; active ones first."""
_OUTCOMES: Final = {
    "ok": "green",
    "failed": "bold red",
    "stalled": "bold red",
    "held-back": "yellow",
}


class RunView:
    """The current state of a run, rendered again on each request."""

    def __init__(self, clock: Callable[[], int] = now) -> None:
        self.state = RunState()
        self._lock = threading.Lock()
        self._clock = clock

    def hear(self, event: Event) -> None:
        with self._lock:
            self.state.hear(event)

    def __rich__(self) -> RenderableType:
        with self._lock:
            parts = [self._phases(), *self._progress(), *self._faults(), *self._findings()]
        return Group(*parts)

    def _phases(self) -> Text:
        began = self.state.began
        elapsed = 0.0 if began is None else (self._clock() - began) / 1e9
        text = Text(no_wrap=True, overflow="ellipsis")
        text.append(f"{elapsed:7.1f} s  ", style="dim")
        for place, name in enumerate(PHASES):
            text.append("  " if place else "")
            text.append_text(self._phase(name, self.state.phases.get(name)))
        return text

    def _phase(self, name: str, phase: Phase | None) -> Text:
        if phase is None:
            return Text(name, style="dim")
        if phase.outcome is None:
            return Text(f"▶ {name} {(self._clock() - phase.began) / 1e9:.0f} s", style="bold")
        mark = "✓" if phase.outcome == "ok" else "✗"
        style = _OUTCOMES.get(phase.outcome, "yellow")
        return Text(f"{mark} {name} {phase.seconds or 0:.0f} s", style=style)

    def _progress(self) -> list[RenderableType]:
        state = self.state
        if state.total is None:
            return []
        words = f"{number(state.acknowledged)} of {number(state.total)} acknowledged"
        if (rate := state.throughput) is not None:
            words += f", {number(round(rate))} per second"
        if state.pipeline is not None:
            words += f", {line(state.pipeline)}"
        grid = Table.grid(padding=(0, 1))
        grid.add_column()
        grid.add_column()
        grid.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
        bar = ProgressBar(total=max(1, state.total), completed=state.acknowledged, width=_BAR)
        grid.add_row(Text("progress ", style="dim"), bar, Text(words))
        return [grid]

    def _faults(self) -> list[RenderableType]:
        faults = self.state.faults
        if not faults:
            return []
        grid = Table.grid(padding=(0, 1))
        grid.add_column()
        grid.add_column()
        grid.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
        # Active ones first, then the most recently ended ones.
        latest = list(reversed(faults.items()))
        order = sorted(latest, key=lambda item: item[1].over)
        for name, fault in order[:_FAULTS]:
            state = Text(f"{fault.state}: {line(fault.detail)}" if fault.detail else fault.state)
            grid.add_row(_mark(fault), Text(line(name), style=_style(fault)), state)
        parts: list[RenderableType] = [grid]
        if len(order) > _FAULTS:
            parts.append(Text(f"  and {plural(len(order) - _FAULTS, 'more fault')}", style="dim"))
        return parts

    def _findings(self) -> list[RenderableType]:
        found = [f"{line(n)}: {plural(c, 'finding')}" for n, c in self.state.findings.items()]
        return [Text(words, style="red") for words in found]


def _mark(fault: Fault) -> Text:
    if fault.state == "failed":
        return Text("✗", style="bold red")
    if fault.over:
        return Text(
            "✓" if fault.took_effect else "–", style="green" if fault.took_effect else "yellow"
        )
    return Text("●" if fault.took_effect else "○", style=_style(fault))


def _style(fault: Fault) -> str:
    if fault.state == "failed":
        return "bold red"
    return "dim" if fault.over else "bold yellow"
