"""The timeline of a report, summarised to fit a page: rates in bins, close marks joined."""

from __future__ import annotations

from typing import Annotated

from pydantic import AliasChoices, Field

from onceproof.reports.model_part import Part


class Span(Part):
    """A period."""

    start: float
    end: float


class Life(Part):
    """One lifetime of a process."""

    instance: str
    started_at: float
    ended_at: float | None = Field(description="null: its end is unknown")
    how: str | None = Field(description="how it ended")


class InstanceLane(Part):
    """The lifetimes of one process, such as a broker or a driver."""

    subject: str
    lives: tuple[Life, ...]


class ProducerLane(Part):
    """The acknowledged sends of one producer."""

    producer: str
    acknowledged: int
    unacknowledged: int = Field(description="sends that failed or whose outcome is unknown")
    rate: tuple[float, ...] = Field(description="acknowledged records per second, one per bin")
    outages: tuple[Span, ...] = Field(description="longer periods without an acknowledgement")
    lives: tuple[Life, ...]


class Batch(Part):
    """One micro-batch."""

    batch: int
    planned_at: float | None
    done_at: float | None
    executions: int | None = Field(description="number of executions, if known")


class BatchLane(Part):
    """The micro-batches of one query, thinned out evenly if there are very many."""

    owner: str
    count: int
    batches: tuple[Batch, ...]


class CommitLane(Part):
    """How often one reader stored its positions, per bin."""

    owner: str
    count: int
    per_bin: tuple[int, ...]


class LagLane(Part):
    """The number of acknowledged records that a reader had not passed at the end of each bin."""

    owner: str
    behind: tuple[int, ...]
    by: str = Field(description="positions: by stored positions; reads: by records read")


class TransactionSpan(Part):
    """One transaction of an application, or several close together with the same outcome."""

    start: float
    end: float | None = Field(description="null: no end was recorded")
    outcome: str = Field(description="committed, aborted or info (unknown)")
    count: int


class TransactionLane(Part):
    """The transactions of one transactional id."""

    transactional_id: str
    count: int
    not_committed: int
    spans: tuple[TransactionSpan, ...]


TookEffect = Annotated[bool, Field(validation_alias=AliasChoices("took_effect", "bit"))]
"""Whether there is evidence; called `bit` in formats up to 3."""


class FaultSpan(Part):
    """A fault from its injection to its healing."""

    fault: str
    kind: str
    start: float
    end: float | None = Field(description="null: no healing was recorded")
    took_effect: TookEffect


class Mark(Part):
    """Hazards or findings of one kind that are close together."""

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
