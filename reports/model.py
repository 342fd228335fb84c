"""What `report.json` holds: the published, versioned shape of a report.

The one thing to know: every time is in seconds since the start of the run; None means "not known".
A change of shape is a new format number; the JSON Schema is made from here (`reports.schema`).
"""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from checkers.model import Evidence, Hop, Verdict
from harness.record import Step
from reports.model_timeline import Timeline

FORMAT: Final = "onceproof-report/1"
Value = str | int | bool | float | None
Row = dict[str, Value]


class Part(BaseModel):
    """The base of everything in a report: immutable, and nothing unknown in it."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class RunFacts(Part):
    """Which run this is, and how to repeat it."""

    run: str = Field(description="name of the run folder")
    scenario: str = Field(description="name that `onceproof run` takes")
    title: str = Field(description="the scenario in one sentence")
    seed: int
    repeat: str = Field(description="the command that repeats it")
    started_at: str = Field(description="wall clock, UTC, ISO 8601")
    seconds: float | None = Field(description="how long it took")
    host: dict[str, str]
    versions: dict[str, str]
    subject: str
    subject_says: str = Field(description="what the subject is, in a sentence or two")
    workload: dict[str, Any]
    configuration: dict[str, Any]
    schedule: tuple[Step, ...]


class FinePrint(Part):
    """The three questions of a claim, answered, and what was not tested."""

    promise: str
    failures: str
    guarantee: str
    not_tested: str
    covers: tuple[str, ...] = Field(description="fault kinds that the answers cover")


class Expectation(Part):
    """What the scenario expects of a claim."""

    verdict: Verdict
    anomalies: tuple[str, ...]


class Claim(Part):
    """A claim with its verdict."""

    name: str
    guarantee: str
    hop: Hop
    input: str = Field(description="the input topic")
    sink: str | None
    view: str | None = Field(description="who looks at the sink")
    fine_print: FinePrint
    verdict: Verdict
    reason: str = Field(description="one sentence: why this verdict and not the next better one")
    refuted_by: tuple[str, ...] = Field(description="refuting anomalies that are proven")
    undecided: tuple[str, ...] = Field(description="anomalies that this history cannot decide")
    hazards_required: tuple[str, ...]
    hazards_seen: dict[str, int]
    expectation: Expectation | None
    expected: bool | None = Field(description="as the scenario expects; null without expectation")


class Send(Part):
    """One attempt of the application to send the record."""

    attempt: str
    session: str
    outcome: str
    called_at: float | None
    topic: str
    partition: int | None
    offset: int | None
    error: str | None


class Entry(Part):
    """One place in the input log where the record stands."""

    topic: str
    partition: int
    offset: int
    committed: bool


class Effect(Part):
    """One effect of the record in a sink."""

    sink: str
    view: str
    effect_key: str
    position: str
    batch: int | None


class Path(Part):
    """The way of one record: sent, in the input log, in the sink. Lists are cut; counts are not."""

    record: str
    sends: tuple[Send, ...]
    sends_count: int
    entries: tuple[Entry, ...]
    entries_count: int
    effects: tuple[Effect, ...]
    effects_count: int
    sinks: tuple[str, ...] = Field(description="sinks that were looked at")


class Cause(Part):
    """A hazard that the finding shares a micro-batch or an attempt with, and the fault behind."""

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
    at: float | None = Field(description="when it came about, as well as that can be told")
    witness: tuple[Row, ...]
    witness_count: int
    causes: tuple[Cause, ...]
    path: Path | None


class Findings(Part):
    """All findings of one anomaly: how many there are, and the first of them in full."""

    anomaly: str
    hop: Hop
    evidence: Evidence
    count: int
    refutes: tuple[str, ...] = Field(description="names of the claims of this run it refutes")
    shown: tuple[Finding, ...]


class Wound(Part):
    """One wound of the self-proof: what was done to a copy of the history, and whether it was
    seen.
    """

    name: str
    target: str
    must_find: str
    found: bool
    detail: str


class Fault(Part):
    """One fault of the schedule, with what proves that it bit."""

    fault: str
    kind: str
    description: str
    target: str | None
    required: bool
    armed_at: float | None
    injected_at: float | None
    healed_at: float | None
    bit: bool
    evidence: str | None
    error: str | None


class Hazard(Part):
    """One thing observed that put a claim to the test."""

    at: float | None
    fault: str | None
    detail: str
    batch: int | None


class Hazards(Part):
    """All hazards of one kind: how many there are, and the first of them."""

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
    """Everything that is told of one run."""

    format: Literal["onceproof-report/1"] = FORMAT
    headline: str = Field(description="the verdict as a sentence")
    verdict: Verdict | None = Field(description="of the claim that the headline speaks of")
    expected: bool | None = Field(description="every claim as the scenario expects")
    run: RunFacts
    claims: tuple[Claim, ...]
    findings: tuple[Findings, ...]
    self_proof: tuple[Wound, ...]
    faults: tuple[Fault, ...]
    hazards: tuple[Hazards, ...]
    phases: tuple[Phase, ...]
    timeline: Timeline
    counts: dict[str, int] = Field(description="rows per table and relation")
    notes: tuple[str, ...] = Field(description="what limits the judgement and this report")
