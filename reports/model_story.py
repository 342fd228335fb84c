"""The path of one record through the history, and the logs around a finding.

Lists are truncated, counts never are. None means unknown. Fields added in format 2 have defaults,
so that reports of format 1 can still be read.
"""

from __future__ import annotations

from pydantic import Field

from onceproof.reports.model_part import Part


class Transaction(Part):
    """The application's transaction that an attempt belongs to."""

    txn: str
    transactional_id: str
    outcome: str = Field(description="committed, aborted or info (unknown)")
    began_at: float | None
    commit_called_at: float | None
    ended_at: float | None
    error: str | None


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
    returned_at: float | None = None
    transaction: Transaction | None = None


class Marker(Part):
    """The control record that ended the transaction of an entry."""

    kind: str = Field(description="commit or abort")
    offset: int
    epoch: int | None


class Entry(Part):
    """One entry in a topic's log that contains the record or an effect of it."""

    topic: str
    partition: int
    offset: int
    committed: bool
    attempt: str | None = None
    producer_id: int | None = None
    epoch: int | None = None
    sequence: int | None = None
    ended_by: Marker | None = None


class PassedPosition(Part):
    """A stored position of a reader that moved past the record."""

    owner: str = Field(description="consumer group or query")
    instance: str | None = Field(description="the process instance that moved it, if known")
    role: str = Field(description="atomic, resume or advisory")
    topic: str
    partition: int
    start: int = Field(description="the stored position before, or 0")
    end: int = Field(description="the stored position after: the next offset to be read")
    batch: int | None
    at: float | None


class Execution(Part):
    """One execution of a micro-batch that the record was in."""

    owner: str
    execution: str
    batch: int
    topic: str
    partition: int
    start: int
    end: int
    committed: bool


class Reading(Part):
    """One read of the record by a concurrent reader."""

    reader: str
    isolation: str
    topic: str
    partition: int
    offset: int
    at: float | None


class Effect(Part):
    """One effect of the record in a sink."""

    sink: str
    view: str
    effect_key: str
    position: str
    batch: int | None
    at: float | None = None
    owner: str | None = None
    instance: str | None = None
    source: str | None = Field(
        default=None, description="position of the input, if the effect carries it"
    )
    entry: Entry | None = Field(default=None, description="its log entry, if the sink is a topic")


class Path(Part):
    """The path of one record."""

    record: str
    sends: tuple[Send, ...]
    sends_count: int
    entries: tuple[Entry, ...]
    entries_count: int
    effects: tuple[Effect, ...]
    effects_count: int
    sinks: tuple[str, ...] = Field(description="sinks that were examined")
    passings: tuple[PassedPosition, ...] = ()
    passings_count: int = 0
    executions: tuple[Execution, ...] = ()
    executions_count: int = 0
    readings: tuple[Reading, ...] = ()
    readings_count: int = 0


class LogLine(Part):
    """One line of a log."""

    at: float
    text: str


class LogExcerpt(Part):
    """One log's lines in a period; the nearest to its middle if there are many."""

    log: str = Field(description="file name in the run's folder `logs`")
    lines: tuple[LogLine, ...]
    count: int = Field(description="number of lines in the time span")


class Moment(Part):
    """A period around findings, and what the logs say about it."""

    start: float
    end: float
    logs: tuple[LogExcerpt, ...]
