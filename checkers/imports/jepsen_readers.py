"""Reconstruct which keys each reader of a Jepsen history read without a break.

A *session* is one key read without a break, so a skipped or repeated offset within it is an
anomaly. It lasts exactly as long as nothing else can have moved the reader:

* `:assign` keeps the position of a key that was assigned before, so its session continues. Any
  other key starts a new session, at the beginning with `:seek-to-beginning?`, else at an unknown
  offset.
* After `:subscribe`, partitions may move between any two operations, so each operation has its own
  sessions. A key in the `:rebalance-log` may have moved between any two records.
* A transaction that did not commit resets its reader. What it polled must follow the previous
  reads, and so must the reads after it. So it gets a session of its own, which starts where the
  previous one had arrived, and the previous one then continues. If the history does not record what
  it polled (older clients do not), the position is unknown from then on.
* `:crash`, and any operation with `:info`, ends the client and all its sessions.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import pyarrow as pa

from onceproof.checkers.imports.jepsen_ops import Operation

_BATCH: Final = 100_000

Own = Mapping[int, Collection[str | None]]
"""Key → values that an operation sent."""


@dataclass(slots=True)
class Session:
    """One key, read without a break by one reader."""

    process: int
    name: str
    key: int
    began: int
    position: int | None
    """The first offset that it had to read, where known."""
    from_beginning: bool = False
    first: int | None = None
    reached: int | None = None
    last_poll_called: int | None = None
    """When the last successful poll that could have returned this key was called."""
    last_poll_empty: bool = False
    reads: int = 0
    ended: int | None = None

    @property
    def stretch(self) -> tuple[int, int] | None:
        """The first and last offset between which every record must have been read."""
        if self.reached is None or self.first is None:
            return None
        return (self.first if self.position is None else self.position), self.reached


Run = tuple[int, int, str, str, int, int, int]
RUN: Final = ("records", "operation", "reader", "session", "first_ordinal", "key", "at")
"""Shared by the records of one key from one poll. A named tuple takes three times as long."""


class ReadBatch(NamedTuple):
    """Some of the reads, in columns."""

    runs: dict[str, pa.Array]
    offsets: pa.Array
    values: pa.Array


class ReadColumns:
    """All reads, converted to Arrow columns in batches to limit the number of Python objects."""

    def __init__(self) -> None:
        self.records = 0
        self._runs: list[Run] = []
        self._offsets: list[int] = []
        self._values: list[str | None] = []
        self._batches: list[ReadBatch] = []

    def add(self, run: Run, offsets: list[int], values: list[str | None]) -> None:
        self._runs.append(run)
        self._offsets += offsets
        self._values += values
        self.records += len(offsets)
        if len(self._offsets) >= _BATCH:
            self._pack()

    def batches(self) -> list[ReadBatch]:
        if self._runs:
            self._pack()
        return self._batches

    def _pack(self) -> None:
        runs = zip(RUN, zip(*self._runs, strict=True), strict=True)
        self._batches.append(
            ReadBatch(
                runs={name: pa.array(column) for name, column in runs},
                offsets=pa.array(self._offsets, pa.int64()),
                values=pa.array(self._values, pa.string()),
            )
        )
        self._runs, self._offsets, self._values = [], [], []


@dataclass(slots=True)
class _Reader:
    subscribed: bool = False
    sessions: dict[int, Session] = field(default_factory=dict)
    """By key; none after subscribing."""
    lives: int = 0


class Readers:
    """All readers. Feed them events in the order in which they happened."""

    def __init__(self) -> None:
        self.reads = ReadColumns()
        self.sessions: list[Session] = []
        self._readers: dict[int, _Reader] = {}

    def assign(self, operation: Operation, at: int) -> None:
        reader = self._reader(operation.process)
        kept = {} if reader.subscribed or operation.seeks else reader.sessions
        reader.lives += 1
        before, reader.sessions = reader.sessions, {}
        for key in operation.keys:
            reader.sessions[key] = kept.get(key) or self._new(
                operation.process, reader, key, at, seeks=operation.seeks
            )
        for key, session in before.items():
            if reader.sessions.get(key) is not session:
                session.ended = at
        reader.subscribed = False

    def subscribe(self, operation: Operation, at: int) -> None:
        self.end(operation.process, at)
        self._reader(operation.process).subscribed = True

    def end(self, process: int, at: int) -> None:
        """End the sessions of a process: its client ended, or its assignment is unknown."""
        reader = self._reader(process)
        for session in reader.sessions.values():
            session.ended = at
        reader.sessions = {}
        reader.subscribed = False

    def poll(self, operation: Operation, called: int, at: int, own: Own) -> None:
        """Record what an operation polled, whatever its outcome.

        An operation polled its `own` sends before it called commit. For the purpose of commit they
        were seen at `called` at the latest.
        """
        reader = self._reader(operation.process)
        reader.lives += 1
        continues = operation.type == "ok" and not reader.subscribed
        temporary: dict[int, Session] = {}
        for poll in operation.polls:
            for key, offsets, values in poll or ():
                if operation.rebalanced is None or key in operation.rebalanced:
                    for offset, value in zip(offsets, values, strict=True):
                        single = self._new(operation.process, reader, key, called)
                        single.name += f"+{self.reads.records}"
                        single.ended = at
                        self._read(single, [offset], [value], operation, called, at, own)
                    continue
                sessions = reader.sessions if continues else temporary
                session = sessions.get(key)
                if session is None:
                    session = sessions[key] = self._new(
                        operation.process, reader, key, called, after=reader.sessions.get(key)
                    )
                self._read(session, offsets, values, operation, called, at, own)
        for session in temporary.values():
            session.ended = at
        if operation.type == "ok":
            empty = not any(offsets for _, offsets, _ in (operation.polls or [None])[-1] or ())
            for session in reader.sessions.values():
                session.last_poll_called, session.last_poll_empty = called, empty
        elif all(poll is None for poll in operation.polls):
            self.end(operation.process, at)

    def _read(
        self,
        session: Session,
        offsets: list[int],
        values: list[str | None],
        operation: Operation,
        called: int,
        at: int,
        own: Own,
    ) -> None:
        own_values = own.get(session.key)
        if own_values and any(value in own_values for value in values):
            for offset, value in zip(offsets, values, strict=True):
                seen = called if value in own_values else at
                self._read(session, [offset], [value], operation, called, seen, {})
            return
        if not offsets:
            return
        run = (
            len(offsets), operation.number, str(operation.process), session.name, session.reads,
            session.key, at,
        )  # fmt: skip
        self.reads.add(run, offsets, values)
        session.reads += len(offsets)
        largest, smallest = max(offsets), min(offsets)
        if session.reached is None or largest > session.reached:
            session.reached = largest
        if session.first is None or smallest < session.first:
            session.first = smallest

    def _new(
        self,
        process: int,
        reader: _Reader,
        key: int,
        at: int,
        *,
        seeks: bool = False,
        after: Session | None = None,
    ) -> Session:
        position = 0 if seeks else None
        if after is not None:
            position = after.position if after.reached is None else after.reached + 1
        session = Session(
            process=process,
            name=f"{process}/{reader.lives}",
            key=key,
            began=at,
            position=position,
            from_beginning=seeks,
        )
        self.sessions.append(session)
        return session

    def _reader(self, process: int) -> _Reader:
        return self._readers.setdefault(process, _Reader())
