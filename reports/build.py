"""Build the `Report` from the run record, the history and the judgement.

An interrupted run has empty tables and NULL times. It is reported as far as it went, and the notes
say what is missing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from onceproof.checkers.model import ClaimJudgement, Judgement
from onceproof.checkers.tables import TABLES
from onceproof.harness.history.run_record import RunRecord
from onceproof.reports.assembly.batches import BatchTimes, batch_moments
from onceproof.reports.assembly.findings import findings
from onceproof.reports.assembly.headline import headline, principal
from onceproof.reports.assembly.moments import moments
from onceproof.reports.assembly.tables import (
    Clock,
    History,
    long,
    rows,
    short,
    short_or_none,
    table,
)
from onceproof.reports.assembly.timeline import batch_lanes, timeline
from onceproof.reports.log_files import LogFiles
from onceproof.reports.model import (
    Claim,
    Expectation,
    Fault,
    FinePrint,
    Hazard,
    Hazards,
    Mutation,
    Phase,
    Report,
    RunFacts,
)
from onceproof.reports.sections import RunData, sections
from onceproof.reports.text import listed

_HAZARDS_SHOWN = 8
_LIMIT = 200


def build(
    record: RunRecord, history: History, judgement: Judgement, logs: LogFiles | None = None
) -> Report:
    """Build the report of one run. Without `logs`, it does not quote any."""
    clock = Clock(id=record.clock, origin_ns=record.monotonic_ns)
    phases = tuple(_phase(row, clock) for row in rows(history, "phases"))
    faults = tuple(_fault(row, clock) for row in rows(history, "faults")[:_LIMIT])
    hazards = _hazards(history, clock)
    claims = tuple(_claim(judged) for judged in judgement.claims)
    times = batch_moments(history, clock)
    batches = batch_lanes(history, times)
    found = findings(judgement, history, clock, BatchTimes(times))
    around = moments(found, logs.around if logs else None, record.wall_ns / 1e9)
    found = around.findings
    of = principal(claims)
    extensions, failed = _extensions(
        RunData(record=record, history=history, judgement=judgement, clock=clock)
    )
    line = timeline(history, clock, phases=phases, faults=faults, findings=found, batches=batches)
    return Report(
        headline=long(headline(claims, faults, _sinks_with_several_effects(history))),
        verdict=of.verdict if of else None,
        expected=_all_expected(claims),
        unsealed=short_or_none(judgement.unsealed),
        run=_facts(record, phases),
        claims=claims,
        findings=found,
        mutation_check=tuple(_mutation(mutation) for mutation in judgement.mutation_check[:_LIMIT]),
        faults=faults,
        hazards=hazards,
        phases=phases,
        timeline=line,
        moments=around.moments,
        counts={short(name): count for name, count in _counts(history, judgement).items()},
        notes=tuple(short(note) for note in judgement.notes[:_LIMIT])
        + _notes(history, clock)
        + _log_notes(logs)
        + failed,
        extensions=extensions,
    )


def _extensions(run: RunData) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the data that sections add, and notes about sections of other packages that failed.

    Such a section must not prevent a verdict from being reported.
    """
    added, failed = {}, []
    for each in sections():
        if each.section.data is None:
            continue
        name = each.section.name
        try:
            data = each.section.data(run)
            if data is not None:
                added[name] = _plain({name: data})[name]
        except Exception as error:
            if each.package is None:
                raise
            reason = f"{type(error).__name__}: {error}"
            failed.append(short(f"The section {name} of {each.package} has no data: {reason}"))
    return added, tuple(failed)


def _counts(history: History, judgement: Judgement) -> Mapping[str, int]:
    """Return rows per table and relation; without a judgement, per table."""
    return judgement.counts or {name: found.num_rows for name, found in sorted(history.items())}


def _facts(record: RunRecord, phases: Sequence[Phase]) -> RunFacts:
    ends = [p.ended_at for p in phases if p.ended_at is not None]
    return RunFacts(
        run=long(record.run),
        scenario=long(record.scenario),
        title=long(record.title),
        seed=record.seed,
        repeat=long(record.repeat),
        started_at=long(record.started_at),
        seconds=max(ends, default=None),
        host=_plain(record.host),
        versions=_plain(record.versions),
        subject=long(record.subject),
        subject_says=long(record.subject_says),
        system=record.system,
        workload=_plain(record.workload),
        configuration=_plain(record.configuration),
        schedule=tuple(record.schedule),
    )


def _plain(data: Mapping[str, Any]) -> dict[str, Any]:
    """Round-trip the data through JSON, so that a loaded report equals the original; cut texts."""
    plain: dict[str, Any] = _bounded(json.loads(json.dumps(dict(data), default=str)))
    return plain


def _bounded(data: Any) -> Any:
    if isinstance(data, dict):
        return {long(name): _bounded(value) for name, value in data.items()}
    if isinstance(data, list):
        return [_bounded(value) for value in data]
    return long(data) if isinstance(data, str) else data


def _claim(judged: ClaimJudgement) -> Claim:
    claim, fine_print = judged.claim, judged.claim.fine_print
    return Claim(
        name=short(claim.name),
        guarantee=short(claim.guarantee),
        hop=claim.hop,
        input=short(claim.scope.input),
        sink=short_or_none(claim.scope.sink),
        view=short_or_none(claim.scope.view),
        fine_print=FinePrint(
            promise=fine_print.promise,
            failures=fine_print.failures,
            guarantee=fine_print.guarantee,
            not_tested=fine_print.not_tested,
            covers=tuple(sorted(fine_print.covers)),
        ),
        verdict=judged.verdict,
        reason=long(judged.reason),
        refuted_by=judged.refuted_by,
        found=dict(judged.found),
        undecided=judged.undecided,
        hazards_required=tuple(sorted(claim.hazards)),
        hazards_seen=dict(judged.hazards_seen),
        expectation=Expectation.of(claim.expect),
        expected=judged.expected,
    )


def _all_expected(claims: Sequence[Claim]) -> bool | None:
    expected = [claim.expected for claim in claims if claim.expected is not None]
    return all(expected) if expected else None


def _mutation(mutation: Any) -> Mutation:
    return Mutation(
        name=mutation.name,
        target=short(mutation.target),
        must_find=mutation.must_find,
        found=mutation.found,
        detail=short(mutation.detail),
    )


def _phase(row: dict[str, Any], clock: Clock) -> Phase:
    return Phase(
        phase=short(row["phase"]),
        started_at=clock.seconds(row["started_at"], row["clock"]),
        ended_at=clock.seconds(row["ended_at"], row["clock"]),
        outcome=short_or_none(row["outcome"]),
        detail=short_or_none(row["detail"]),
    )


def _fault(row: dict[str, Any], clock: Clock) -> Fault:
    return Fault(
        fault=short(row["fault"]),
        kind=short(row["kind"] or ""),
        description=short(row["description"] or ""),
        target=short_or_none(row["target"]),
        required=bool(row["required"]),
        armed_at=clock.seconds(row["armed_at"], row["clock"]),
        injected_at=clock.seconds(row["injected_at"], row["clock"]),
        healed_at=clock.seconds(row["healed_at"], row["clock"]),
        took_effect=bool(row["took_effect"]),
        evidence=short_or_none(row["evidence"]),
        error=short_or_none(row["error"]),
    )


def _hazards(history: History, clock: Clock) -> tuple[Hazards, ...]:
    """Group hazards by kind; there may be thousands of one kind."""
    whole = table(history, "hazards")
    kinds = whole.group_by(["hazard", "hop"]).aggregate([([], "count_all")]).to_pylist()

    def group(kind: dict[str, Any]) -> Hazards:
        mask = pc.and_(
            pc.equal(whole["hazard"], kind["hazard"]), pc.equal(whole["hop"], kind["hop"])
        )
        mine = whole.filter(mask)
        mine = mine.take(pc.sort_indices(mine["at"]))
        faults = pc.unique(mine["fault"]).drop_null().to_pylist()
        return Hazards(
            hazard=short(kind["hazard"]),
            hop=short(kind["hop"] or ""),
            count=kind["count_all"],
            faults=tuple(short(f) for f in faults[:_LIMIT]),
            shown=tuple(_hazard(r, clock) for r in mine.slice(0, _HAZARDS_SHOWN).to_pylist()),
        )

    return tuple(group(k) for k in sorted(kinds, key=lambda k: (k["hazard"] or "", k["hop"] or "")))


def _hazard(row: dict[str, Any], clock: Clock) -> Hazard:
    return Hazard(
        at=clock.seconds(row["at"], row["clock"]),
        fault=short_or_none(row["fault"]),
        detail=short(row["detail"] or ""),
        batch=row["batch"],
    )


def _sinks_with_several_effects(history: History) -> frozenset[str]:
    """Return the sinks where a record may have several effects, which have distinct names."""
    expected = table(history, "expected")
    names = expected.group_by("sink").aggregate([("effect_key", "count_distinct")]).to_pylist()
    return frozenset(short(row["sink"]) for row in names if row["effect_key_count_distinct"] > 1)


def _notes(history: History, clock: Clock) -> tuple[str, ...]:
    notes = []
    missing = sorted(name for name in TABLES if name not in history)
    if missing:
        notes.append(f"The history has no table {', '.join(missing)}.")
    sends: pa.Table = table(history, "sends")
    other = pc.sum(pc.not_equal(sends["clock"], clock.id)).as_py() or 0
    if other:
        notes.append(
            f"{other} sends were timed by a clock other than the harness's. They are not drawn on "
            "the timeline, because times of different clocks are never compared."
        )
    phases = rows(history, "phases")
    if not any(p["phase"] == "collect" and p["outcome"] == "ok" for p in phases):
        last = (
            f"the last recorded phase is {phases[-1]['phase']}"
            if phases
            else "no phase was recorded"
        )
        notes.append(short(f"The history was not collected completely; {last}."))
    return tuple(notes)


def _log_notes(logs: LogFiles | None) -> tuple[str, ...]:
    if logs is None:
        return ()
    notes = []
    if logs.silent:
        names = listed(short(name) for name in logs.silent)
        notes.append(f"Lines of {names} have no timestamps and are not shown with findings.")
    if logs.refused:
        names = listed(short(name) for name in logs.refused)
        notes.append(f"Not read, because not a regular file in the folder: {names}.")
    return tuple(notes)
