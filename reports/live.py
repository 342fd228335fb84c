"""Live progress on standard error, as handlers of the event stream.

A handler runs on the harness's own thread and must not block, so it only formats. On a terminal,
rich's thread does the drawing (`onceproof.reports.live_view`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TextIO

from rich.live import Live
from rich.text import Text

from onceproof.checkers.model import Findings
from onceproof.harness.history import events
from onceproof.harness.history.events import Event, Handler
from onceproof.reports.live_view import RunView
from onceproof.reports.terminal import console, is_terminal
from onceproof.reports.text import line, number, plural

_EVERY_NS = 2_000_000_000


@contextmanager
def live(err: TextIO | None = None) -> Iterator[Handler]:
    """Yield a handler that shows a run: as a live view on a terminal, otherwise as plain lines."""
    err = sys.stderr if err is None else err
    if not is_terminal(err):
        yield PlainLines(out=err)
        return
    view = RunView()
    with Live(
        view,
        console=console(err),
        refresh_per_second=4,
        transient=True,
        # Output to a terminal must be printed above the view; piped output must not be redirected.
        redirect_stdout=is_terminal(sys.stdout),
    ) as painted:
        yield TerminalView(view=view, painted=painted)


@dataclass(frozen=True, kw_only=True)
class Line:
    """One event as a line: a word, what happened, and a style."""

    word: str
    text: str
    style: str = ""


def lines_of(event: Event) -> tuple[Line, ...]:
    """Return the event's lines; empty for events that are not shown one by one."""
    if isinstance(event, events.Judged):
        return tuple(_finding(found) for found in event.judgement.findings)
    shown = _line_of(event)
    return () if shown is None else (shown,)


def _finding(found: Findings) -> Line:
    example = f", for example: {found.shown[0].sentence}" if found.shown else ""
    text = f"{found.anomaly}: {plural(found.count, 'finding')}{example}"
    return Line(word="finding", text=text, style="red")


def _line_of(event: Event) -> Line | None:
    match event:
        case events.RunStarted():
            return Line(
                word="run",
                text=f"{event.scenario}, seed {event.seed}: {event.title} ({event.folder})",
                style="bold",
            )
        case events.PhaseStarted():
            return Line(word="phase", text=event.phase, style="bold")
        case events.PhaseEnded() if event.outcome != "ok":
            detail = f": {event.detail}" if event.detail else ""
            return Line(word="phase", text=f"{event.phase} {event.outcome}{detail}", style="red")
        case events.FaultChanged():
            detail = f": {event.detail}" if event.detail else ""
            style = "red" if event.state == "failed" else "yellow"
            return Line(word="fault", text=f"{event.fault} {event.state}{detail}", style=style)
        case events.HazardObserved():
            return Line(word="hazard", text=f"{event.hazard}: {event.detail}", style="cyan")
        case events.InstanceChanged():
            return Line(word="process", text=f"{event.instance} {event.state}")
        case events.RunEnded() if event.message:
            return Line(word="end", text=event.message, style="red")
        case _:
            return None


class PlainLines:
    """Print plain lines, with progress at most every two seconds."""

    def __init__(self, *, out: TextIO) -> None:
        self._out = out
        self._started: int | None = None
        self._last_progress: int | None = None
        self._acknowledged = -1
        self._quiet = _Repeats()

    def __call__(self, event: Event) -> None:
        self._started = event.at if self._started is None else self._started
        if isinstance(event, events.Progress):
            self._progress(event)
            return
        for shown in lines_of(event):
            if text := self._quiet.words(event, shown):
                self._write(event.at, shown.word, text)

    def _progress(self, event: events.Progress) -> None:
        last = self._last_progress
        stale = event.acknowledged == self._acknowledged and event.acknowledged >= event.total
        if stale or (last is not None and event.at - last < _EVERY_NS):
            return
        self._last_progress, self._acknowledged = event.at, event.acknowledged
        self._write(event.at, "progress", _progress_text(event))

    def _write(self, at: int, word: str, text: str) -> None:
        elapsed = (at - (at if self._started is None else self._started)) / 1e9
        print(f"{elapsed:7.1f} s  {word:<8}  {line(text)}", file=self._out, flush=True)


class TerminalView:
    """Show the state of the run, with events printed above it."""

    def __init__(self, *, view: RunView, painted: Live) -> None:
        self._view, self._painted = view, painted
        self._started: int | None = None
        self._quiet = _Repeats()

    def __call__(self, event: Event) -> None:
        self._started = event.at if self._started is None else self._started
        self._view.hear(event)
        elapsed = (event.at - self._started) / 1e9
        for shown in lines_of(event):
            if text := self._quiet.words(event, shown):
                when = (f"{elapsed:7.1f} s  ", "dim")
                what = (f"{shown.word:<8}  {line(text)}", shown.style)
                self._painted.console.print(Text.assemble(when, what))


class _Repeats:
    """Show only the 1st, 2nd, 3rd, 10th, 100th and so on of thousands of hazards of a kind."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def words(self, event: Event, shown: Line) -> str | None:
        if not isinstance(event, events.HazardObserved):
            return shown.text
        count = self._seen[event.hazard] = self._seen.get(event.hazard, 0) + 1
        if count <= 3:
            return shown.text
        round_count = str(count).strip("0") == "1"
        return f"{shown.text} ({number(count)} so far)" if round_count else None


def _progress_text(event: events.Progress) -> str:
    share = f" ({100 * event.acknowledged / event.total:.0f} %)" if event.total else ""
    pipeline = "" if event.pipeline is None else f", {event.pipeline}"
    of = f"{number(event.acknowledged)} of {number(event.total)}"
    return f"{of} acknowledged{share}{pipeline}"
