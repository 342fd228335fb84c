"""The content of an audit's `report.json`: the published, versioned format."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, Literal

from pydantic import Field

from onceproof.reports.model_part import Part

FORMAT: Final = "onceproof-audit/1"


class Result(StrEnum):
    """The result of an audit."""

    CLEAN = "clean"
    VIOLATED = "violated"
    UNKNOWN = "unknown"
    INVALID = "invalid"

    @property
    def exit_code(self) -> int:
        return {Result.CLEAN: 0, Result.VIOLATED: 1, Result.INVALID: 3, Result.UNKNOWN: 5}[self]


class PartitionPart(Part):
    """A partition of the input: offsets from `first` to before `last` were requested."""

    partition: int
    first: int
    last: int
    inputs: int
    judged: int
    undecided: int = Field(description="inputs that the pipeline may not have reached")
    nameless: int = Field(description="inputs without an identity; not judged")
    reached: int | None = Field(
        description="offset that the pipeline is known to have reached: the committed offset of "
        "its group, else the offset after the last input that has an effect"
    )
    from_at: str | None
    to_at: str | None


class OutputPart(Part):
    """An output, and the number of effects found in it."""

    name: str
    view: str
    judged: int = Field(description="effects of judged inputs")
    others: int = Field(description="effects of inputs that were read but not judged")
    unknown: int = Field(description="effects of inputs that were not read")
    nameless: int = Field(description="effects without an identity")


class OpenPart(Part):
    """An open transaction, beyond which read_committed consumers cannot read."""

    topic: str
    partition: int
    since: str
    hanging: bool = Field(
        description="open for longer than the brokers' maximum transaction timeout"
    )


class ClaimPart(Part):
    """A guarantee for one output."""

    name: str
    sink: str
    result: Result
    reason: str


class FoundPart(Part):
    """All findings of one anomaly in one output."""

    anomaly: str
    sink: str
    count: int
    headline: str
    sentences: tuple[str, ...] = Field(description="the first findings, as sentences")


class Bucket(Part):
    """A part of the window by the timestamps of inputs, with its findings."""

    start: str
    inputs: int
    found: dict[str, int]


class AuditReport(Part):
    """The report of one audit."""

    format: Literal["onceproof-audit/1"] = FORMAT
    headline: str
    result: Result
    input: str
    bootstrap: str
    started_at: str
    seconds: float
    options: dict[str, str]
    partitions: tuple[PartitionPart, ...]
    outputs: tuple[OutputPart, ...]
    open: tuple[OpenPart, ...]
    claims: tuple[ClaimPart, ...]
    findings: tuple[FoundPart, ...]
    buckets: tuple[Bucket, ...]
    repairs: int = Field(description="number of lines in repairs.jsonl")
    notes: tuple[str, ...] = Field(description="what limits the audit")
    mutation_check: tuple[str, ...] = Field(
        description="mutations made in copies of this history, all of which were found"
    )
