"""The timeline in words, for readers who cannot see the picture."""

from __future__ import annotations

from collections.abc import Iterator

from onceproof.reports.model import Report
from onceproof.reports.text import plural, seconds

_LIMIT = 200


def words(report: Report) -> tuple[tuple[str, str], ...]:
    """Return (time, event) pairs, in order of time."""
    events = sorted(_events(report), key=lambda event: event[0])
    shown = [(seconds(at), what) for at, what in events[:_LIMIT]]
    if len(events) > _LIMIT:
        shown.append(("…", f"and {plural(len(events) - _LIMIT, 'more event')}, see report.json"))
    return tuple(shown)


def _events(report: Report) -> Iterator[tuple[float, str]]:
    line = report.timeline
    for phase in report.phases:
        if phase.started_at is not None:
            yield phase.started_at, f"phase {phase.phase} begins"
    for number, fault in enumerate(report.faults, 1):
        if fault.injected_at is not None:
            yield fault.injected_at, f"fault F{number} ({fault.kind}): {fault.description}"
        if fault.healed_at is not None:
            yield fault.healed_at, f"fault F{number} is healed"
    for lane in (*line.brokers, *line.pipeline):
        for place, life in enumerate(lane.lives):
            if place:
                yield life.started_at, f"{lane.subject} restarts as {life.instance}"
            if life.ended_at is not None:
                how = f": {life.how}" if life.how else ""
                yield life.ended_at, f"{life.instance} ends{how}"
    for producer in line.producers:
        for outage in producer.outages:
            lasted = seconds(outage.end - outage.start)
            yield outage.start, f"{producer.producer}: nothing acknowledged for {lasted}"
    for lag in line.lags:
        if most := max(lag.behind, default=0):
            at = lag.behind.index(most) * line.bin_seconds
            yield at, f"{lag.owner} reaches its maximum lag, {plural(most, 'record')}"
    for txns in line.transactions:
        for span in txns.spans:
            if span.outcome not in ("committed", "aborted"):
                many = plural(span.count, "transaction")
                yield span.start, f"{many} of {txns.transactional_id}: outcome unknown"
    for mark in line.hazards:
        yield mark.at, f"hazard: {mark.kind}" + (f", {mark.count} times" if mark.count > 1 else "")
    for mark in line.findings:
        yield mark.at, plural(mark.count, f"finding of {mark.kind}", f"findings of {mark.kind}")
