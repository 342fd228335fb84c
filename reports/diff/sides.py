"""Build a `Side` from a report or a judgement.

A report lists phases and faults, so it shows whether the run was complete. A judgement does not: it
was complete for certain only if one of its verdicts implies it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePath
from typing import Final

from onceproof.checkers.circumstances import TO_COMPLETE
from onceproof.checkers.model import Hop, Verdict
from onceproof.reports.completeness import missed
from onceproof.reports.diff.circumstances import circumstances
from onceproof.reports.diff.judgement_file import JudgementFile
from onceproof.reports.diff.side import Side, WorkloadOfSide
from onceproof.reports.model import Claim, Fault, Mutation, Phase, Report

_RUN_NAME: Final = re.compile(r"\d{8}T\d{6}Z-.+")
_HOPS: Final = {hop.value: hop for hop in Hop}


def side_of_report(report: Report, page: str | None = None) -> Side:
    return Side(
        name=report.run.run,
        history=report.run.run,
        sent=WorkloadOfSide(seed=report.run.seed, workload=report.run.workload),
        claims=report.claims,
        findings=report.findings,
        hazards=frozenset(
            (found.hazard, _HOPS[found.hop]) for found in report.hazards if found.hop in _HOPS
        ),
        incomplete=_incomplete(report.phases),
        flaw=_missed(missed(report)) or _without_effect(report.faults),
        circumstances=circumstances(report),
        page=page,
    )


def side_of_judgement(judgement: JudgementFile) -> Side:
    name = PurePath(judgement.source).name
    claims = tuple(claim.to_model() for claim in judgement.claims)
    return Side(
        name=judgement.source,
        history=name if _RUN_NAME.fullmatch(name) else None,
        claims=claims,
        findings=tuple(group.to_model() for group in judgement.findings),
        hazards=frozenset((kind, claim.hop) for claim in claims for kind in claim.hazards_seen),
        incomplete=_unconfirmed(claims),
        flaw=_missed(judgement.mutation_check),
        circumstances={
            "hazards observed": {
                f"{kind} on hop {claim.hop}": str(count)
                for claim in claims
                for kind, count in claim.hazards_seen.items()
            }
        },
    )


def _incomplete(phases: Iterable[Phase]) -> str | None:
    phases = tuple(phases)
    for name in TO_COMPLETE:
        outcomes = {phase.outcome for phase in phases if phase.phase == name}
        if not outcomes:
            return f"it did not reach phase {name}"
        if outcomes != {"ok"}:
            return f"its phase {name} did not succeed"
    for phase in phases:
        if phase.outcome != "ok":
            return f"its phase {phase.phase} did not succeed"
    return None


def _unconfirmed(claims: Iterable[Claim]) -> str | None:
    if any(claim.verdict in (Verdict.HOLDS, Verdict.UNEXERCISED) for claim in claims):
        return None  # these verdicts require a settled, fully collected run
    return "its judgement does not state that it settled and was collected completely"


def _missed(mutations: Iterable[Mutation]) -> str | None:
    for mutation in mutations:
        if not mutation.found:
            return f"its mutation self-check failed: mutation «{mutation.name}» was not found"
    return None


def _without_effect(faults: Iterable[Fault]) -> str | None:
    faults = tuple(faults)
    for fault in faults:
        if fault.required and fault.error is not None:
            return f"its fault «{fault.fault}» failed"
        if fault.required and not fault.took_effect:
            return f"its fault «{fault.fault}» had no effect"
        if fault.injected_at is not None and fault.healed_at is None:
            return f"its fault «{fault.fault}» has no recorded healing"
    if faults and not any(fault.took_effect for fault in faults):
        return "none of its faults took effect"
    return None
