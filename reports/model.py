"""The content of `report.json`: the published, versioned format of a report.

Times are in seconds since the start of the run; None means unknown. A changed shape needs a new
format number, and `reports.schema` generates the JSON Schema from here. Fields that a new format
adds have defaults, so that older reports can still be read.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import Field, JsonValue, model_validator

from onceproof.checkers import model as checkers
from onceproof.checkers.model import Evidence, Hop, Verdict
from onceproof.harness.history.run_record import Step
from onceproof.harness.history.system import System
from onceproof.reports.model_part import Part
from onceproof.reports.model_story import Moment, Path, Transaction
from onceproof.reports.model_timeline import Timeline, TookEffect

FORMAT: Final = "onceproof-report/5"
EARLIER: Final = frozenset(f"onceproof-report/{earlier}" for earlier in (1, 2, 3, 4))
"""Older formats that can still be read."""
Value = str | int | bool | float | None
Row = dict[str, Value]


class RunFacts(Part):
    """Which run this is, and how to repeat it."""

    run: str = Field(description="name of the run folder")
    scenario: str = Field(description="name that `onceproof run` takes")
    title: str = Field(description="the scenario in one sentence")
    seed: int
    repeat: str = Field(description="the command that repeats the run")
    started_at: str = Field(description="wall clock, UTC, ISO 8601")
    seconds: float | None = Field(description="duration, from start to collected history")
    host: dict[str, str]
    versions: dict[str, str]
    subject: str
    subject_says: str = Field(description="description of the subject, in a sentence or two")
    system: System | None = Field(
        default=None, description="the kind of system that the subject is; null: of no such kind"
    )
    workload: dict[str, Any]
    configuration: dict[str, Any]
    schedule: tuple[Step, ...]


class FinePrint(Part):
    """The three questions of a claim, answered, and what was not tested."""

    promise: str
    failures: str
    guarantee: str
    not_tested: str
    covers: tuple[str, ...] = Field(description="fault kinds that the fine print covers")


class Expectation(Part):
    """What the scenario expects of a claim."""

    verdict: Verdict
    anomalies: tuple[str, ...]
    may: tuple[str, ...] = Field(default=(), description="further anomalies that are allowed")

    @classmethod
    def of(cls, expect: checkers.Expectation | None) -> Expectation | None:
        if expect is None:
            return None
        return cls(
            verdict=expect.verdict,
            anomalies=tuple(sorted(expect.anomalies)),
            may=tuple(sorted(expect.may)),
        )


class Claim(Part):
    """A claim with its verdict."""

    name: str
    guarantee: str
    hop: Hop
    input: str = Field(description="the input topic")
    sink: str | None
    view: str | None = Field(description="view in which the sink is read")
    fine_print: FinePrint
    verdict: Verdict
    reason: str = Field(description="one sentence: why this verdict and not a better one")
    refuted_by: tuple[str, ...] = Field(description="refuting anomalies that are proven")
    found: dict[str, int] = Field(
        default={}, description="findings of each refuting anomaly in the claim's scope"
    )
    undecided: tuple[str, ...] = Field(description="anomalies that this history cannot decide")
    hazards_required: tuple[str, ...]
    hazards_seen: dict[str, int]
    expectation: Expectation | None
    expected: bool | None = Field(
        description="whether the verdict is as expected; null without expectation"
    )


class Cause(Part):
    """A hazard in the same micro-batch or attempt as the finding, and the fault that caused it."""

    hazard: str
    at: float | None
    detail: str
    fault: str | None
    batch: int | None
    attempt: str | None


class Finding(Part):
    """One anomaly with the smallest set of rows that proves it."""

    sentence: str
    key: Row
    at: float | None = Field(description="best estimate of the time at which it occurred")
    at_is: str | None = Field(default=None, description="the event that `at` is the time of")
    witness: tuple[Row, ...]
    witness_count: int
    causes: tuple[Cause, ...]
    path: Path | None
    transactions: tuple[Transaction, ...] = Field(
        default=(), description="transactions of the applications that its witness names"
    )
    moment: int | None = Field(
        default=None, description="index in `moments` of the time span around it"
    )


class Findings(Part):
    """All findings of one anomaly: their number, and the first of them in full."""

    anomaly: str
    hop: Hop
    evidence: Evidence
    count: int
    refutes: tuple[str, ...] = Field(description="names of the claims of this run that it refutes")
    shown: tuple[Finding, ...]


class Mutation(Part):
    """One mutation of the self-check: what was changed in a copy of the history, and the result."""

    name: str
    target: str
    must_find: str
    found: bool
    detail: str


class Fault(Part):
    """One fault of the schedule, with the evidence that it took effect."""

    fault: str
    kind: str
    description: str
    target: str | None
    required: bool
    armed_at: float | None
    injected_at: float | None
    healed_at: float | None
    took_effect: TookEffect
    evidence: str | None
    error: str | None


class Hazard(Part):
    """One observed event that puts a claim to the test."""

    at: float | None
    fault: str | None
    detail: str
    batch: int | None


class Hazards(Part):
    """All hazards of one kind: their number, and the first of them."""

    hazard: str
    hop: str
    count: int
    faults: tuple[str, ...] = Field(description="faults that caused any of them")
    shown: tuple[Hazard, ...]


class Phase(Part):
    """One phase of the run."""

    phase: str
    started_at: float | None
    ended_at: float | None
    outcome: str | None
    detail: str | None


class Report(Part):
    """The report of one run."""

    format: Literal["onceproof-report/5"] = FORMAT
    headline: str = Field(description="the verdict as a sentence")
    verdict: Verdict | None = Field(description="verdict of the claim in the headline")
    expected: bool | None = Field(description="whether every claim is as expected")
    unsealed: str | None = Field(
        default=None,
        description="what was judged although it differs from what the run sealed; null: nothing",
    )
    run: RunFacts
    claims: tuple[Claim, ...]
    findings: tuple[Findings, ...]
    mutation_check: tuple[Mutation, ...]
    faults: tuple[Fault, ...]
    hazards: tuple[Hazards, ...]
    phases: tuple[Phase, ...]
    timeline: Timeline
    moments: tuple[Moment, ...] = Field(
        default=(), description="log excerpts around findings, each time span once"
    )
    counts: dict[str, int] = Field(description="number of rows per table and relation")
    notes: tuple[str, ...] = Field(description="what limits the judgement and this report")
    extensions: dict[str, JsonValue] = Field(
        default={}, description="data of additional sections, by section name"
    )

    @model_validator(mode="before")
    @classmethod
    def _upgraded(cls, found: Any) -> Any:
        if not isinstance(found, dict) or found.get("format") not in EARLIER:
            return found
        earlier = {**found, "format": FORMAT}
        if "self_proof" in earlier:
            earlier["mutation_check"] = earlier.pop("self_proof")
        return earlier
