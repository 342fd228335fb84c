"""Convert the events of a run to lines, in a handler of the event stream.

A handler must not block, but the reader may be slow or gone, so a separate thread writes the lines.
If writing fails, it reports that once and gives up, and the run continues.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from queue import SimpleQueue
from typing import Any, Final, Protocol, TextIO

from onceproof.harness.history import events
from onceproof.harness.history.events import Event
from onceproof.reports.event_lines import model
from onceproof.reports.event_lines.model import Line
from onceproof.reports.runs.trial import Trial

_SENTENCES: Final = 3
_PATIENCE: Final = 10.0
"""Seconds that a slow reader gets at the end."""


class LineWriter:
    """Write lines in order on a thread of its own; `complain` is called once if that fails."""

    def __init__(self, out: TextIO, complain: Callable[[str], None]) -> None:
        self._out, self._complain = out, complain
        self._queue: SimpleQueue[Line | None] = SimpleQueue()
        self._broken = False
        self._thread = threading.Thread(target=self._write_all, daemon=True)
        self._thread.start()

    def write(self, line: Line) -> None:
        """Queue a line."""
        self._queue.put(line)

    def close(self) -> None:
        """Write the queued lines, and wait for it up to `_PATIENCE` seconds."""
        self._queue.put(None)
        self._thread.join(_PATIENCE)
        if self._thread.is_alive():
            self._complain(f"the reader did not read for {_PATIENCE:.0f} seconds")

    def _write_all(self) -> None:
        while (line := self._queue.get()) is not None:
            if self._broken:
                continue
            try:
                self._out.write(line.model_dump_json(by_alias=True) + "\n")
                self._out.flush()
            except (OSError, ValueError) as error:
                self._broken = True
                self._complain(getattr(error, "strerror", None) or str(error))


class TakesLines(Protocol):
    """Takes lines in order, and does not block."""

    def write(self, line: Line) -> None: ...


class RunLines:
    """Convert the events of successive runs to lines."""

    def __init__(self, writer: TakesLines) -> None:
        self._writer = writer
        self._run = ""
        self._began = 0

    def __call__(self, event: Event) -> None:
        if isinstance(event, events.RunStarted):
            self._run, self._began = event.run, event.at
        where = {
            "at": stamp(),
            "run": self._run,
            "seconds": round((event.at - self._began) / 1e9, 3),
        }
        for line in lines_of(event, where):
            self._writer.write(line)


def trial_line(trial: Trial, *, began: bool) -> Line:
    """Return the line for the start of a trial of a matrix, or for its result."""
    if began:
        return model.TrialBegan(at=stamp(), scenario=trial.scenario, backend=trial.backend)
    return model.TrialEnded(
        at=stamp(),
        scenario=trial.scenario,
        backend=trial.backend,
        state=trial.state,
        verdicts={claim.name: claim.verdict for claim in trial.claims},
        expected=trial.expected,
        remark=trial.remark,
        report=trial.report,
    )


def stamp() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def lines_of(event: Event, where: dict[str, Any]) -> Iterator[Line]:
    """Yield the lines for an event; `where` has the fields common to all lines of a run."""
    match event:
        case events.RunStarted():
            yield model.RunBegan(
                **where,
                folder=str(event.folder),
                scenario=event.scenario,
                title=event.title,
                seed=event.seed,
            )
        case events.PhaseStarted():
            yield model.PhaseBegan(**where, phase=event.phase)
        case events.PhaseEnded():
            took = round(event.seconds, 3)
            yield model.PhaseEnded(
                **where, phase=event.phase, outcome=event.outcome, detail=event.detail, took=took
            )
        case events.Progress():
            yield model.Progress(
                **where,
                acknowledged=event.acknowledged,
                total=event.total,
                pipeline=event.pipeline,
            )
        case events.FaultChanged():
            yield model.Fault(
                **where,
                fault=event.fault,
                kind=event.kind,
                state=event.state,
                detail=event.detail,
            )
        case events.HazardObserved():
            yield model.Hazard(**where, hazard=event.hazard, detail=event.detail)
        case events.NoteWritten():
            yield model.Note(**where, text=event.text)
        case events.InstanceChanged():
            yield model.Process(**where, instance=event.instance, state=event.state)
        case events.Judged():
            yield from _judged(event, where)
        case events.ReportWritten():
            yield model.ReportWritten(**where, html=str(event.html), json=str(event.json))
        case events.RunEnded():
            yield model.RunEnded(**where, exit_code=event.exit_code, message=event.message)


def _judged(event: events.Judged, where: dict[str, Any]) -> Iterator[Line]:
    for found in event.judgement.findings:
        yield model.Finding(
            **where,
            anomaly=found.anomaly,
            hop=found.hop,
            evidence=found.evidence,
            count=found.count,
            sentences=tuple(finding.sentence for finding in found.shown[:_SENTENCES]),
        )
    claims = tuple(
        model.JudgedClaim(
            claim=judged.claim.name,
            verdict=judged.verdict,
            reason=judged.reason,
            refuted_by=judged.refuted_by,
            expected=judged.expected,
        )
        for judged in event.judgement.claims
    )
    yield model.Judged(**where, claims=claims)
