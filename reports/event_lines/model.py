"""The lines of `--json-events`: the published, versioned format of each kind of event.

Readers must ignore unknown fields and unknown kinds of event. Only `stream-began` has the version.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from onceproof.checkers.model import Evidence, Hop, Verdict

FORMAT: Final = "onceproof-events/1"


class Line(BaseModel):
    """The fields of every line."""

    model_config = ConfigDict(frozen=True)

    at: str = Field(description="wall clock, UTC, ISO 8601")


class StreamBegan(Line):
    """The first line."""

    event: Literal["stream-began"] = "stream-began"
    format: Literal["onceproof-events/1"] = FORMAT
    command: str = Field(description="run, replay, verify, soak or matrix")


class StreamEnded(Line):
    """The last line; if it is missing, the command was killed."""

    event: Literal["stream-ended"] = "stream-ended"
    exit_code: int = Field(description="exit code of the command")


class RunLine(Line):
    """The fields of every line about a run."""

    run: str = Field(description="name of the run folder")
    seconds: float = Field(description="seconds since the run began")


class RunBegan(RunLine):
    """A run began, with its folder and seed."""

    event: Literal["run-began"] = "run-began"
    folder: str
    scenario: str
    title: str = Field(description="the scenario in one sentence")
    seed: int


class PhaseBegan(RunLine):
    """A phase of the run begins."""

    event: Literal["phase-began"] = "phase-began"
    phase: str = Field(description="arrange, warm-up, disturb, heal, settle, collect, tear-down")


class PhaseEnded(RunLine):
    """A phase ended."""

    event: Literal["phase-ended"] = "phase-ended"
    phase: str
    outcome: str = Field(description="ok, failed, stalled, held-back or interrupted")
    detail: str | None = Field(description="why the outcome is not ok")
    took: float = Field(description="duration in seconds")


class Progress(RunLine):
    """The progress of the workload, about twice a second."""

    event: Literal["progress"] = "progress"
    acknowledged: int = Field(description="records acknowledged so far")
    total: int = Field(description="records of the workload")
    pipeline: str | None = Field(description="progress as the pipeline reports it")


class Fault(RunLine):
    """A fault changed its state."""

    event: Literal["fault"] = "fault"
    fault: str = Field(description="name in the schedule")
    kind: str = Field(description="crash, partition, timeout or surgery")
    state: str = Field(description="due, armed, injected, took effect, healed or failed")
    detail: str = Field(description="what was done or seen")


class Hazard(RunLine):
    """An event put a claim to the test."""

    event: Literal["hazard"] = "hazard"
    hazard: str
    detail: str


class Note(RunLine):
    """The user of a lab wrote a note."""

    event: Literal["note"] = "note"
    text: str


class Process(RunLine):
    """A process of the stage or the subject started or ended."""

    event: Literal["process"] = "process"
    instance: str
    state: str


class Finding(RunLine):
    """An anomaly was found; one line per anomaly."""

    event: Literal["finding"] = "finding"
    anomaly: str
    hop: Hop
    evidence: Evidence
    count: int = Field(description="number of findings")
    sentences: tuple[str, ...] = Field(description="sentences of the first findings")


class JudgedClaim(BaseModel):
    """A claim with its verdict."""

    model_config = ConfigDict(frozen=True)

    claim: str
    verdict: Verdict
    reason: str
    refuted_by: tuple[str, ...] = Field(description="refuting anomalies that are proven")
    expected: bool | None = Field(
        description="whether the verdict is as expected; null without expectation"
    )


class Judged(RunLine):
    """The history was judged; follows all findings."""

    event: Literal["judged"] = "judged"
    claims: tuple[JudgedClaim, ...]


class ReportWritten(RunLine):
    """The report was written."""

    event: Literal["report"] = "report"
    html: str
    json_: str = Field(alias="json", serialization_alias="json")


class RunEnded(RunLine):
    """The run ended and was torn down."""

    event: Literal["run-ended"] = "run-ended"
    exit_code: int = Field(description="exit code of this run")
    message: str | None = Field(description="why the run ended early")


class TrialBegan(Line):
    """A matrix started a run, which is a command of its own."""

    event: Literal["trial-began"] = "trial-began"
    scenario: str
    backend: str


class TrialEnded(Line):
    """A run of a matrix ended, or existed already."""

    event: Literal["trial-ended"] = "trial-ended"
    scenario: str
    backend: str
    state: str = Field(description="run, reused, failed, not run or left out")
    verdicts: dict[str, Verdict] = Field(description="verdict of each claim, by name")
    expected: bool = Field(description="whether every claim is as expected")
    remark: str | None
    report: str | None = Field(description="path of its report, relative to the matrix's folder")


AnyLine = Annotated[
    StreamBegan
    | RunBegan
    | PhaseBegan
    | PhaseEnded
    | Progress
    | Fault
    | Hazard
    | Note
    | Process
    | Finding
    | Judged
    | ReportWritten
    | RunEnded
    | TrialBegan
    | TrialEnded
    | StreamEnded,
    Field(discriminator="event"),
]
LINES: Final[TypeAdapter[AnyLine]] = TypeAdapter(AnyLine)
"""Parses a line of any kind: `LINES.validate_json(line)`."""
