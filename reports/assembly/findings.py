"""Findings as they are told: bounded in number and size, with the record's way and a time.

The one thing to know: what is shown is cut until it fits `SIZE_LIMIT`; the counts never are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from checkers.model import ClaimJudgement, Hop, Judgement
from checkers.model import Finding as JudgedFinding
from checkers.model import Findings as JudgedFindings
from checkers.model import Row as JudgedRow
from reports.assembly.paths import Paths, Place, records_of_attempts
from reports.assembly.tables import Clock, History, plain_row, short, short_or_none
from reports.model import Cause, Finding, Findings

SIZE_LIMIT = 500_000
_SHOWN = (40, 20, 10, 5, 2, 1)
_WITNESS_LIMIT = 10
_CAUSE_LIMIT = 6

BatchTimes = dict[int, float]


def findings(
    judgement: Judgement, history: History, clock: Clock, batch_times: BatchTimes
) -> tuple[Findings, ...]:
    """All groups of findings, the ones that refute a claim first."""
    shown = [found for group in judgement.findings for found in group.shown[: _SHOWN[0]]]
    claims = judgement.claims
    named = records_of_attempts(history, {a for f in shown if (a := _only(f, "attempt"))})
    records = {record for f in shown if (record := _record(f, named))}
    inputs = {judged.claim.scope.input for judged in claims}
    paths = Paths(history, clock, records, inputs)

    def told(found: JudgedFinding) -> Finding:
        record = _record(found, named)
        causes = tuple(_cause(row, clock) for row in found.causes[:_CAUSE_LIMIT])
        return Finding(
            sentence=short(found.sentence),
            key=plain_row(found.key, clock),
            at=_time(found, record, paths, clock, batch_times, causes),
            witness=tuple(plain_row(row, clock) for row in found.witness[:_WITNESS_LIMIT]),
            witness_count=len(found.witness),
            causes=causes,
            path=paths.path(record, _places(found, claims)) if record else None,
        )

    groups = [
        Findings(
            anomaly=short(group.anomaly),
            hop=group.hop,
            evidence=group.evidence,
            count=group.count,
            refutes=_refutes(group, claims),
            shown=tuple(told(found) for found in group.shown[: _SHOWN[0]]),
        )
        for group in judgement.findings
        if group.count
    ]
    groups.sort(key=lambda group: (not group.refutes, -group.count))
    return _fitting(groups)


def _fitting(groups: Sequence[Findings]) -> tuple[Findings, ...]:
    """The groups with as many findings shown as fit the size limit."""
    for limit in _SHOWN:
        fitted = tuple(g.model_copy(update={"shown": g.shown[:limit]}) for g in groups)
        if sum(len(g.model_dump_json()) for g in fitted) <= SIZE_LIMIT:
            break
    return fitted


def _refutes(group: JudgedFindings, claims: Sequence[ClaimJudgement]) -> tuple[str, ...]:
    return tuple(short(j.claim.name) for j in claims if group.anomaly in j.refuted_by)


def _rows(found: JudgedFinding) -> Iterable[JudgedRow]:
    yield found.key
    yield from found.witness


def _only(found: JudgedFinding, column: str) -> str | None:
    """The one text that all rows have in a column; None when there is none or more than one."""
    values = {v for row in _rows(found) if isinstance(v := row.get(column), str)}
    return values.pop() if len(values) == 1 else None


def _record(found: JudgedFinding, named: dict[str, str]) -> str | None:
    return _only(found, "record") or named.get(_only(found, "attempt") or "")


def _places(found: JudgedFinding, claims: Sequence[ClaimJudgement]) -> list[Place]:
    """Where to look for effects: where the finding says, else where the claims look."""
    if found.hop is Hop.PRODUCE:
        return []
    if sink := _only(found, "sink"):
        return [(sink, _only(found, "view"))]
    scopes = (judged.claim.scope for judged in claims)
    return list(dict.fromkeys((s.sink, s.view) for s in scopes if s.sink is not None))


def _time(
    found: JudgedFinding,
    record: str | None,
    paths: Paths,
    clock: Clock,
    batch_times: BatchTimes,
    causes: Sequence[Cause],
) -> float | None:
    """When it came about: its micro-batch, else its cause, else the last call to send it."""
    batches = {v for row in _rows(found) if type(v := row.get("batch")) is int}
    known = [batch_times[batch] for batch in batches if batch in batch_times]
    caused = [cause.at for cause in causes if cause.at is not None]
    sent = [clock.seconds(r["called_at"], r["clock"]) for r in paths.attempts(record or "")]
    called = [at for at in sent if at is not None]
    candidates = (known, caused, called) if found.hop is not Hop.PRODUCE else (caused, called)
    return next((max(times) for times in candidates if times), None)


def _cause(row: JudgedRow, clock: Clock) -> Cause:
    def text(name: str) -> str | None:
        value = row.get(name)
        return None if value is None else short(str(value))

    at, own, batch = row.get("at"), row.get("clock", clock.id), row.get("batch")
    return Cause(
        hazard=text("hazard") or "unknown hazard",
        at=clock.seconds(at, str(own)) if type(at) is int else None,
        detail=text("detail") or "",
        fault=short_or_none(text("fault")),
        batch=batch if type(batch) is int else None,
        attempt=text("attempt"),
    )
