"""Build a report's findings, each with its record's path and a time.

Fewer findings are shown until all fit into `SIZE_LIMIT` characters; the counts stay exact.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from onceproof.checkers.model import ClaimJudgement, Hop, Judgement
from onceproof.checkers.model import Finding as JudgedFinding
from onceproof.checkers.model import Findings as JudgedFindings
from onceproof.checkers.model import Row as JudgedRow
from onceproof.reports.assembly.batches import BatchTimes
from onceproof.reports.assembly.paths import Paths, Place, records_of_attempts, transactions
from onceproof.reports.assembly.tables import Clock, History, plain_row, short
from onceproof.reports.model import Cause, Finding, Findings
from onceproof.reports.model_story import Path, Transaction

SIZE_LIMIT = 2_000_000
_SHOWN = (1000, 500, 200, 100, 40, 20, 10, 5, 2, 1)
_WITNESS_LIMIT = 10
_CAUSE_LIMIT = 6
_TXN_LIMIT = 6


def findings(
    judgement: Judgement, history: History, clock: Clock, batch_times: BatchTimes
) -> tuple[Findings, ...]:
    """Return all groups of findings, those that refute a claim first."""
    shown = [found for group in judgement.findings for found in group.shown[: _SHOWN[0]]]
    claims = judgement.claims
    named = records_of_attempts(history, {a for f in shown if (a := _only_value(f, "attempt"))})
    records = {record for f in shown if (record := _record(f, named))}
    inputs = {judged.claim.scope.input for judged in claims}
    paths = Paths(history, clock, records, inputs)
    txns = transactions(history, clock, {text for f in shown for text in _texts(f)})

    def finding(found: JudgedFinding) -> Finding:
        record = _record(found, named)
        causes = tuple(_cause(row, clock) for row in found.causes[:_CAUSE_LIMIT])
        path = paths.path(record, _places(found, claims)) if record else None
        mine = tuple(txns[text] for text in _texts(found) if text in txns)[:_TXN_LIMIT]
        at, at_is = _time(found, path, clock, batch_times, causes, mine)
        return Finding(
            sentence=short(found.sentence),
            key=plain_row(found.key, clock),
            at=at,
            at_is=at_is,
            witness=tuple(plain_row(row, clock) for row in found.witness[:_WITNESS_LIMIT]),
            witness_count=len(found.witness),
            causes=causes,
            path=path,
            transactions=mine,
        )

    groups = [
        Findings(
            anomaly=short(group.anomaly),
            hop=group.hop,
            evidence=group.evidence,
            count=group.count,
            refutes=_refutes(group, claims),
            shown=tuple(finding(found) for found in group.shown[: _SHOWN[0]]),
        )
        for group in judgement.findings
        if group.count
    ]
    groups.sort(key=lambda group: (not group.refutes, -group.count))
    return _fitting(groups)


def _fitting(groups: Sequence[Findings]) -> tuple[Findings, ...]:
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


def _texts(found: JudgedFinding) -> list[str]:
    """Return the distinct texts in its key and witness."""
    return list(dict.fromkeys(v for row in _rows(found) for v in row.values() if type(v) is str))


def _only_value(found: JudgedFinding, column: str) -> str | None:
    """Return the one text that all rows have in a column; None if there are none or several."""
    values = {v for row in _rows(found) if isinstance(v := row.get(column), str)}
    return values.pop() if len(values) == 1 else None


def _record(found: JudgedFinding, named: dict[str, str]) -> str | None:
    return _only_value(found, "record") or named.get(_only_value(found, "attempt") or "")


def _places(found: JudgedFinding, claims: Sequence[ClaimJudgement]) -> list[Place]:
    """Return the sinks where effects are looked up: the finding's, else those of the claims."""
    if found.hop is Hop.PRODUCE:
        return []
    if sink := _only_value(found, "sink"):
        refuted = [j.claim.scope for j in claims if found.anomaly in j.refuted_by]
        others = (other for scope in refuted if scope.sink == sink for other in scope.others)
        return list(dict.fromkeys([(sink, _only_value(found, "view")), *others]))
    scopes = (judged.claim.scope for judged in claims)
    return list(dict.fromkeys((s.sink, s.view) for s in scopes if s.sink is not None))


def _time(
    found: JudgedFinding,
    path: Path | None,
    clock: Clock,
    batch_times: BatchTimes,
    causes: Sequence[Cause],
    txns: Sequence[Transaction],
) -> tuple[float | None, str | None]:
    """Return when it happened, as far as known, and the event that this time is of."""
    batches = _batches(found)
    effects, sends = (path.effects, path.sends) if path else ((), ())
    passings = path.passings if path else ()
    processed: list[tuple[str, list[float | None]]] = [
        (f"its micro-batch was {kind}", [batch_times.at(*batch, kind) for batch in batches])
        for kind in ("done", "planned")
    ]
    caused = ("a hazard with the same cause occurred", [cause.at for cause in causes])
    seen: list[tuple[str, list[float | None]]] = [
        ("its last effect was written", [effect.at for effect in effects]),
        ("a stored position moved past its record", [passing.at for passing in passings]),
    ]
    always: list[tuple[str, list[float | None]]] = [
        ("the last event of its witness occurred", [_time_of(row, clock) for row in _rows(found)]),
        ("its last transaction ended", [txn.ended_at for txn in txns]),
        ("its record was last sent", [send.called_at for send in sends]),
    ]
    produced = found.hop is Hop.PRODUCE
    for what, times in [caused, *always] if produced else [*processed, caused, *seen, *always]:
        if known := [at for at in times if at is not None]:
            return max(known), what
    return None, None


def _batches(found: JudgedFinding) -> set[tuple[str | None, int]]:
    """Return the micro-batches in its witness, with the owner from there or from its causes."""
    caused: dict[int, set[str]] = defaultdict(set)
    for row in found.causes:
        owner, number = row.get("owner"), row.get("batch")
        if type(owner) is str and type(number) is int:
            caused[number].add(owner)
    batches: set[tuple[str | None, int]] = set()
    for row in _rows(found):
        owner, number = row.get("owner"), row.get("batch")
        if type(number) is int:
            owners = {owner} if type(owner) is str else caused[number]
            batches.add((next(iter(owners)) if len(owners) == 1 else None, number))
    return batches


def _time_of(row: JudgedRow, clock: Clock) -> float | None:
    at, clock_id = row.get("at"), row.get("clock", clock.id)
    return clock.seconds(at, str(clock_id)) if type(at) is int else None


def _cause(row: JudgedRow, clock: Clock) -> Cause:
    def text(name: str) -> str | None:
        value = row.get(name)
        return None if value is None else short(str(value))

    at, clock_id, batch = row.get("at"), row.get("clock", clock.id), row.get("batch")
    return Cause(
        hazard=text("hazard") or "unknown hazard",
        at=clock.seconds(at, str(clock_id)) if type(at) is int else None,
        detail=text("detail") or "",
        fault=text("fault"),
        batch=batch if type(batch) is int else None,
        attempt=text("attempt"),
    )
