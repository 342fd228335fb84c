"""The timeline of a report: what happened when, small enough for a page whatever the run's size.

Everything is summarised when it is built: rates come in bins, marks of one
kind that lie close together are one mark with a count.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import AliasChoices, Field

from onceproof.reports.model_part import Part


class Span(Part):
    """A stretch of time."""

    start: float
    end: float


class Life(Part):
    """One life of one process."""

    instance: str
    started_at: float
    ended_at: float | None = Field(description="null: its end is not known")
    how: str | None = Field(description="how it ended, in words")


class InstanceLane(Part):
    """The lives of one process: a broker, a driver."""

    subject: str
    lives: tuple[Life, ...]


class ProducerLane(Part):
    """What one producer got acknowledged."""

    producer: str
    acknowledged: int
    unacknowledged: int = Field(description="sends that failed or that nobody knows of")
    rate: tuple[float, ...] = Field(description="acknowledged records per second, one per bin")
    outages: tuple[Span, ...] = Field(description="longer stretches without any acknowledgement")
    lives: tuple[Life, ...]


class Batch(Part):
    """One micro-batch."""

    batch: int
    planned_at: float | None
    done_at: float | None
    executions: int | None = Field(description="how often it was executed, where known")


class BatchLane(Part):
    """The micro-batches of one query; thinned out evenly when there are very many."""

    owner: str
    count: int
    batches: tuple[Batch, ...]


class CommitLane(Part):
    """How often the positions of one reader were stored, beside its micro-batches."""

    owner: str
    count: int
    per_bin: tuple[int, ...]


class LagLane(Part):
    """How many acknowledged records one reader had not yet behind it, at the end of each bin."""

    owner: str
    behind: tuple[int, ...]
    by: str = Field(description="positions: it stored; reads: it had them")


class TransactionSpan(Part):
    """One transaction of an application, or several of one outcome that lie close together."""

    start: float
    end: float | None = Field(description="null: it was never seen to end")
    outcome: str = Field(description="committed, aborted or info (nobody knows)")
    count: int


class TransactionLane(Part):
    """The transactions of one transactional id."""

    transactional_id: str
    count: int
    not_committed: int
    spans: tuple[TransactionSpan, ...]


TookEffect = Annotated[bool, Field(validation_alias=AliasChoices("took_effect", "bit"))]
"""Whether there is proof; `bit` in reports up to format 3."""


class FaultSpan(Part):
    """A fault from injected to healed."""

    fault: str
    kind: str
    start: float
    end: float | None = Field(description="null: never seen to be healed")
    took_effect: TookEffect


class Mark(Part):
    """Hazards or findings of one kind that lie close together."""

    kind: str
    at: float
    count: int


class Timeline(Part):
    """All lanes on one axis from 0 to `end`."""

    end: float
    bin_seconds: float
    producers: tuple[ProducerLane, ...]
    brokers: tuple[InstanceLane, ...]
    pipeline: tuple[InstanceLane, ...]
    batches: tuple[BatchLane, ...]
    lags: tuple[LagLane, ...] = ()
    commits: tuple[CommitLane, ...] = ()
    transactions: tuple[TransactionLane, ...] = ()
    faults: tuple[FaultSpan, ...]
    hazards: tuple[Mark, ...]
    findings: tuple[Mark, ...]
    findings_without_time: int
