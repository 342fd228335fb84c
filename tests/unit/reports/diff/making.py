"""Small runs for the tests of `reports.diff`, with claims, findings and hazards."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from onceproof.checkers.model import Evidence, Hop, Verdict
from onceproof.reports.diff.side import Side, WorkloadOfSide
from onceproof.reports.model import Cause, Claim, Expectation, Finding, Findings, FinePrint

HAZARD = "replayed-batch"
SENT = WorkloadOfSide(seed=7, workload={"records": 100, "topic": "payments"})


def claim(
    guarantee: str = "exactly-once",
    verdict: Verdict = Verdict.HOLDS,
    *,
    refuted_by: tuple[str, ...] = (),
    hop: Hop = Hop.PROCESS,
    sink: str | None = "ledger",
    expected: bool | None = None,
    **overrides: Any,
) -> Claim:
    """A claim on payments → ledger that was tested by a replayed batch."""
    place = "payments" if hop is Hop.PRODUCE else f"payments → {sink}"
    defaults: dict[str, Any] = {
        "name": f"{guarantee} {place}",
        "guarantee": guarantee,
        "hop": hop,
        "input": "payments",
        "sink": None if hop is Hop.PRODUCE else sink,
        "view": None if hop is Hop.PRODUCE else "table",
        "fine_print": FinePrint(
            promise="", failures="", guarantee="", not_tested="", covers=("crash",)
        ),
        "verdict": verdict,
        "reason": "Because.",
        "refuted_by": refuted_by,
        "undecided": (),
        "hazards_required": (HAZARD,),
        "hazards_seen": {HAZARD: 1},
        "expectation": None
        if expected is None
        else Expectation(verdict=verdict if expected else Verdict.HOLDS, anomalies=()),
        "expected": expected,
    }
    return Claim(**defaults | overrides)


def finding(record: str, *, sink: str = "ledger", hazards: tuple[str, ...] = (HAZARD,)) -> Finding:
    """A finding about one record, with its related hazards."""
    return Finding(
        sentence=f"{record} stands out.",
        key={"sink": sink, "view": "table", "record": record, "effect_key": ""},
        at=None,
        witness=(),
        witness_count=0,
        causes=tuple(
            Cause(hazard=h, at=None, detail="", fault="kill", batch=None, attempt=None)
            for h in hazards
        ),
        path=None,
    )


def group(
    anomaly: str,
    *findings: Finding,
    count: int | None = None,
    hop: Hop = Hop.PROCESS,
    evidence: Evidence = Evidence.PRESENCE,
) -> Findings:
    """The findings of an anomaly; `count` is their total if more than listed."""
    return Findings(
        anomaly=anomaly,
        hop=hop,
        evidence=evidence,
        count=len(findings) if count is None else count,
        refutes=(),
        shown=findings,
    )


def good(**overrides: Any) -> Side:
    """A run whose claim holds."""
    defaults: dict[str, Any] = {
        "name": "good",
        "claims": (claim(),),
        "hazards": frozenset({(HAZARD, Hop.PROCESS)}),
        "sent": SENT,
    }
    return Side(**defaults | overrides)


def bad(*records: str, anomaly: str = "duplicate-output", **overrides: Any) -> Side:
    """A run whose claim is violated by an anomaly of some records."""
    defaults: dict[str, Any] = {
        "name": "bad",
        "claims": (claim(verdict=Verdict.VIOLATED, refuted_by=(anomaly,)),),
        "findings": (group(anomaly, *(finding(record) for record in records)),),
    }
    return replace(good(), **(defaults | overrides))


def judged(side: Side, verdict: Verdict, **overrides: Any) -> Side:
    """The same run with another verdict on its claims."""
    claims = tuple(
        c.model_copy(update={"verdict": verdict, "refuted_by": (), **overrides})
        for c in side.claims
    )
    return replace(side, claims=claims, findings=())
