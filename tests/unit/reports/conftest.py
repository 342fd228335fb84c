"""Small synthetic runs for the tests of `reports`."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from onceproof.checkers.model import (
    Claim,
    ClaimJudgement,
    Evidence,
    Expectation,
    Finding,
    Findings,
    FinePrint,
    Hop,
    Judgement,
    Mutation,
    Scope,
    Verdict,
)
from onceproof.checkers.tables import TABLES
from onceproof.harness.history.run_record import RunRecord, Step
from onceproof.reports.build import build
from onceproof.reports.model import Report

CLOCK = "boot/monotonic"
ORIGIN = 7_000_000_000_000
History = dict[str, pa.Table]


def ns(seconds: float) -> int:
    """A reading of the run's clock."""
    return ORIGIN + round(seconds * 1e9)


def arrow(name: str, rows: list[dict[str, Any]]) -> pa.Table:
    """A table of the history from rows with some of its columns."""
    schema = TABLES[name].schema
    full = [{"clock": CLOCK} | row for row in rows]
    return pa.Table.from_pylist(
        [{field.name: row.get(field.name) for field in schema} for row in full], schema=schema
    )


def run_record(**changed: Any) -> RunRecord:
    """The record of a small run."""
    step = Step(
        fault="1-kill", kind="crash", when="at half of progress", do="kill it", until="restarted"
    )
    facts: dict[str, Any] = {
        "run": "20250101T000000Z-small-7",
        "scenario": "small",
        "title": "A small run",
        "seed": 7,
        "repeat": "onceproof run small --seed 7",
        "started_at": "2025-01-01T00:00:00Z",
        "clock": CLOCK,
        "monotonic_ns": ORIGIN,
        "wall_ns": 1,
        "host": {"cores": "2"},
        "versions": {"onceproof": "0"},
        "subject": "forwarder",
        "subject_says": "It forwards.",
        "workload": {"records": 3},
        "configuration": {"broker": {"acks": "all", "list": (1, 2)}},
        "schedule": [step],
        "claims": [],
    }
    return RunRecord(**facts | changed)


def small_history(record: str = "p0-1") -> History:
    """Three records; the first of them appears twice in the ledger, after a replayed batch."""
    names = [record, "p0-2", "p0-3"]
    send = {"session": "producer-0/1", "topic": "payments", "partition": 0, "outcome": "ok"}
    effect = {"sink": "ledger", "view": "table", "effect_key": "", "digest": "d", "batch": 7}
    fault = {"fault": "1-kill", "kind": "crash", "description": "kill driver-1", "required": True}
    rows: dict[str, list[dict[str, Any]]] = {
        "sends": [
            send
            | {"attempt": f"{n}/1", "record": n, "digest": "d", "ordinal": i, "offset": 456 + i}
            | {"called_at": ns(10 + i), "returned_at": ns(10.1 + i)}
            for i, n in enumerate(names)
        ],
        "log": [
            {"topic": "payments", "partition": 1, "offset": 456 + i, "kind": "data"}
            | {"record": n, "attempt": f"{n}/1", "digest": "d", "committed": True}
            for i, n in enumerate(names)
        ],
        "effects": [
            effect | {"record": n, "position": p, "ordinal": int(p)}
            for n, p in ((record, "812"), ("p0-2", "813"), ("p0-3", "814"), (record, "2033"))
        ],
        "positions": [
            {"owner": "q", "role": "resume", "kind": kind, "by": "subject", "topic": "payments"}
            | {"partition": 0, "offset": 1, "batch": 7, "ordinal": 0, "at": ns(at)}
            for kind, at in (("planned", 11.0), ("done", 15.0))
        ],
        "ranges": [
            {"owner": "q", "execution": e, "batch": 7, "topic": "payments", "partition": 0}
            | {"start_offset": 0, "end_offset": 9, "committed": e == "b", "source": "progress"}
            for e in ("a", "b")
        ],
        "instances": [
            {"subject": "driver", "instance": "driver-1", "started_at": ns(1)}
            | {"ended_at": ns(12), "how": "killed"},
            {"subject": "driver", "instance": "driver-2", "started_at": ns(14)},
            {"subject": "broker-1", "instance": "broker-1/1", "started_at": ns(0.5)},
            {"subject": "producer-0", "instance": "producer-0/1", "started_at": ns(9)},
        ],
        "faults": [
            fault
            | {"armed_at": ns(11.9), "injected_at": ns(12), "healed_at": ns(14)}
            | {"took_effect": True, "evidence": "9 of 9 processes gone", "target": "driver-1"}
        ],
        "hazards": [
            {"hazard": "replayed-batch", "hop": "process", "at": ns(14.5), "fault": "1-kill"}
            | {"detail": "batch 7 was executed again", "owner": "q", "batch": 7}
        ],
        "phases": [
            {"phase": p, "started_at": ns(a), "ended_at": ns(b), "outcome": "ok"}
            for p, a, b in (("arrange", 0, 9), ("disturb", 9, 16), ("collect", 16, 20))
        ],
    }
    return {name: arrow(name, rows.get(name, [])) for name in TABLES}


def judged(
    guarantee: str,
    verdict: Verdict,
    *,
    refuted_by: tuple[str, ...] = (),
    found: int = 1,
    seen: int = 1,
    expected: bool | None = True,
    reason: str = "Because.",
) -> ClaimJudgement:
    """One claim on payments → ledger."""
    claim = Claim(
        guarantee=guarantee,
        hop=Hop.PROCESS,
        scope=Scope(input="payments", sink="ledger", view="table"),
        fine_print=FinePrint(
            promise="One effect each.",
            failures="Crashes.",
            guarantee="Still one effect.",
            not_tested="Loss of the disk.",
        ),
        hazards=frozenset({"replayed-batch"}),
        expect=Expectation(verdict=verdict, anomalies=frozenset(refuted_by)),
    )
    return ClaimJudgement(
        claim=claim,
        verdict=verdict,
        reason=reason,
        refuted_by=refuted_by,
        found=dict.fromkeys(refuted_by, found),
        hazards_seen={"replayed-batch": seen} if seen else {},
        expected=expected,
    )


def duplicates(history: History, records: list[str], count: int | None = None) -> Findings:
    """A duplicate-output of each record, caused by the history's hazards."""
    causes = tuple(history["hazards"].to_pylist())
    effects = history["effects"].to_pylist()
    shown = tuple(
        Finding(
            anomaly="duplicate-output",
            hop=Hop.PROCESS,
            evidence=Evidence.PRESENCE,
            key={"sink": "ledger", "view": "table", "record": name},
            sentence=f"Record {name} appears twice in ledger.",
            witness=tuple(
                {"record": name, "position": e["position"], "batch": 7, "seen_at": ns(15)}
                for e in effects
                if e["record"] == name
            ),
            causes=causes,
        )
        for name in records
    )
    return Findings(
        anomaly="duplicate-output",
        hop=Hop.PROCESS,
        evidence=Evidence.PRESENCE,
        count=count or len(shown),
        shown=shown,
    )


def small_judgement(history: History, record: str = "p0-1", count: int | None = None) -> Judgement:
    """A judgement in which exactly once is violated and at least once holds."""
    found = duplicates(history, [record], count)
    mutation = Mutation(
        name="effect dropped", target="p0-2", must_find="lost-output", found=True, detail="found"
    )
    return Judgement(
        claims=(
            judged("exactly-once", Verdict.VIOLATED, refuted_by=("duplicate-output",)),
            judged("at-least-once", Verdict.HOLDS),
        ),
        findings=(found,),
        mutation_check=(mutation,),
        notes=("One line was cut short.",),
        counts={"sends": 3},
    )


@pytest.fixture
def small_report() -> Report:
    """The report of the small run."""
    history = small_history()
    return build(run_record(), history, small_judgement(history))


@pytest.fixture
def small() -> SimpleNamespace:
    """The builders above, for tests that modify the small run."""
    return SimpleNamespace(
        arrow=arrow,
        clock=CLOCK,
        duplicates=duplicates,
        history=small_history,
        judged=judged,
        judgement=small_judgement,
        ns=ns,
        record=run_record,
    )


ReportOf = Callable[[Verdict], Report]


@pytest.fixture
def report_of() -> ReportOf:
    """A report whose only claim has the given verdict."""

    def make(verdict: Verdict) -> Report:
        history = small_history()
        refuted = ("duplicate-output",) if verdict is Verdict.VIOLATED else ()
        found = (duplicates(history, ["p0-1"], 1250),) if refuted else ()
        seen = 0 if verdict is Verdict.UNEXERCISED else 1
        claim = judged(
            "exactly-once", verdict, refuted_by=refuted, found=1250, seen=seen, expected=None
        )
        judgement = Judgement(claims=(claim,), findings=found, mutation_check=())
        return build(run_record(), history, judgement)

    return make
