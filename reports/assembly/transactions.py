"""The applications' transactions on the timeline."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from onceproof.reports.assembly.tables import Clock, History, short, table
from onceproof.reports.model_timeline import TransactionLane, TransactionSpan

_LANES, _SPANS = 6, 200
_APART = 400
_FOREVER = 1e9
_Span = tuple[float, float | None]


def transaction_lanes(history: History, clock: Clock, *, end: float) -> tuple[TransactionLane, ...]:
    """Return a lane for each transactional id. Only spans of the same outcome are merged."""
    columns = ["transactional_id", "outcome", "began_at", "ended_at", "clock"]
    found: dict[str, dict[str, list[_Span]]] = defaultdict(lambda: defaultdict(list))
    for row in table(history, "txns").select(columns).to_pylist():
        start = clock.seconds(row["began_at"], row["clock"])
        if start is not None:
            until = clock.seconds(row["ended_at"], row["clock"])
            found[row["transactional_id"] or ""][row["outcome"] or "info"].append((start, until))
    return tuple(
        TransactionLane(
            transactional_id=short(name),
            count=sum(map(len, by_outcome.values())),
            not_committed=sum(len(s) for o, s in by_outcome.items() if o != "committed"),
            spans=_spans(by_outcome, end / _APART),
        )
        for name, by_outcome in sorted(found.items())[:_LANES]
    )


def _spans(by_outcome: dict[str, list[_Span]], apart: float) -> tuple[TransactionSpan, ...]:
    spans = [s for outcome, found in by_outcome.items() for s in _fitting(outcome, found, apart)]
    return tuple(sorted(spans, key=lambda s: (s.start, s.outcome)))


def _fitting(outcome: str, spans: list[_Span], apart: float) -> list[TransactionSpan]:
    """Join the spans of one outcome until they are few enough."""
    while len(merged := _merged(outcome, spans, apart)) > _SPANS and apart < _FOREVER:
        apart *= 2
    return merged[:_SPANS]


def _merged(outcome: str, spans: Iterable[_Span], apart: float) -> list[TransactionSpan]:
    """Join the spans of one outcome that are too close to be distinguished."""
    merged: list[TransactionSpan] = []
    for start, end in sorted(spans, key=lambda s: s[0]):
        last = merged[-1] if merged else None
        if last and last.end is not None and end is not None and end - last.start <= apart:
            more = {"end": max(last.end, end), "count": last.count + 1}
            merged[-1] = last.model_copy(update=more)
        else:
            merged.append(TransactionSpan(start=start, end=end, outcome=short(outcome), count=1))
    return merged
