"""The time line of a report: what happened when, small enough for a page whatever the run's size.

The one thing to know: everything is summarised when it is built: rates come in bins, marks of one
kind that lie close together are one mark with a count.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Span(_Part):
    """A stretch of time."""

    start: float
    end: float


class Life(_Part):
    """One life of one process."""

    instance: str
    started_at: float
    ended_at: float | None = Field(description="null: its end is not known")
    how: str | None = Field(description="how it ended, in words")


class InstanceLane(_Part):
    """The lives of one process: a broker, a driver."""

    subject: str
    lives: tuple[Life, ...]


class ProducerLane(_Part):
    """What one producer got acknowledged."""

    producer: str
    acknowledged: int
    unacknowledged: int = Field(description="sends that failed or that nobody knows of")
    rate: tuple[float, ...] = Field(description="acknowledged records per second, one per bin")
    outages: tuple[Span, ...] = Field(description="longer stretches without any acknowledgement")
    lives: tuple[Life, ...]


class Batch(_Part):
    """One micro-batch."""

    batch: int
    planned_at: float | None
    done_at: float | None
    executions: int | None = Field(description="how often it was executed, where known")


class BatchLane(_Part):
    """The micro-batches of one query; thinned out evenly when there are very many."""

    owner: str
    count: int
    batches: tuple[Batch, ...]


class FaultSpan(_Part):
    """A fault from injected to healed."""

    fault: str
    kind: str
    start: float
    end: float | None = Field(description="null: never seen to be healed")
    bit: bool


class Mark(_Part):
    """Hazards or findings of one kind that lie close together."""

    kind: str
    at: float
    count: int


class Timeline(_Part):
    """All lanes on one axis from 0 to `end`."""

    end: float
    bin_seconds: float
    producers: tuple[ProducerLane, ...]
    brokers: tuple[InstanceLane, ...]
    pipeline: tuple[InstanceLane, ...]
    batches: tuple[BatchLane, ...]
    faults: tuple[FaultSpan, ...]
    hazards: tuple[Mark, ...]
    findings: tuple[Mark, ...]
    findings_without_time: int
