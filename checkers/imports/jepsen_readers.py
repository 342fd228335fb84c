"""Who read what in a Jepsen history: sessions, assignments and the stretches that were read.

Within one *session* of a reader a key is read without a break, so whatever
is passed over or read again is an anomaly. A session is therefore as long as nothing may have moved
the reader, and no longer:

* `:assign` keeps the position of a key that was assigned before, so its session goes on; any other
  key begins a new one, at the beginning with `:seek-to-beginning?`, else nobody knows where.
* After `:subscribe` partitions may move between any two operations: each has a session of its own.
  A key in the `:rebalance-log` may have moved between any two records.
* A transaction that did not commit puts its reader back to where it was. What it polled must follow
  on what was read before, and so must what comes after it; so it gets a session of its own, which
  begins where the one before had come to, and that one goes on behind it. If the history does not
  say what it polled (older clients do not), nobody knows where the reader is now.
* `:crash`, and any operation with `:info`, ends the client and all its sessions.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import pyarrow as pa

from onceproof.checkers.imports.jepsen_ops import Operation

_BATCH: Final = 100_000
"""Records that are kept as Python's objects, at most."""

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
    """The first offset that it was to read, where that is known."""
    from_beginning: bool = False
    first: int | None = None
    """The first offset that it did read."""
    reached: int | None = None
    """The largest offset that it read."""
    last_poll_called: int | None = None
    """When the last successful poll was called that could have returned something of this key."""
    last_poll_empty: bool = False
    reads: int = 0
    ended: int | None = None

    @property
    def stretch(self) -> tuple[int, int] | None:
        """The first and the last offset between which nothing can have been passed over."""
        if self.reached is None or self.first is None:
            return None
        return (self.first if self.position is None else self.position), self.reached


Run = tuple[int, int, str, str, int, int, int]
"""What records of one key that one poll returned have in common, see `RUN`."""
RUN: Final = ("records", "operation", "reader", "session", "first_ordinal", "key", "at")
"""`records` is how many there are. A plain tuple is made in a third of the time of a named one."""


class ReadBatch(NamedTuple):
    """Some of what was read, in columns."""

    runs: dict[str, pa.Array]
    """By the names in `RUN`."""
    offsets: pa.Array
    values: pa.Array


class ReadColumns:
    """What was read; as columns from time to time, so that little of it is Python's objects."""

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
    """One process, as far as it reads."""

    subscribed: bool = False
    sessions: dict[int, Session] = field(default_factory=dict)
    """By key; none after subscribing."""
    lives: int = 0


class Readers:
    """All readers; they are fed events in the order in which they happen."""

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
        """The client of a process is gone, or nobody knows what it is assigned to."""
        reader = self._reader(process)
        for session in reader.sessions.values():
            session.ended = at
        reader.sessions = {}
        reader.subscribed = False

    def poll(self, operation: Operation, called: int, at: int, own: Own) -> None:
        """What an operation polled, whatever became of it.

        Args:
            operation: as it came back.
            called: when it was invoked.
            at: when it came back.
            own: what the operation itself sent. It polled that before it called commit, so it was
                seen at `called` at the latest as far as commit is concerned.
        """
        reader = self._reader(operation.process)
        reader.lives += 1
        through = operation.type == "ok" and not reader.subscribed
        apart: dict[int, Session] = {}
        for poll in operation.polls:
            for key, offsets, values in poll or ():
                if operation.rebalanced is None or key in operation.rebalanced:
                    for offset, value in zip(offsets, values, strict=True):
                        alone = self._new(operation.process, reader, key, called)
                        alone.name += f"+{self.reads.records}"
                        alone.ended = at
                        self._read(alone, [offset], [value], operation, called, at, own)
                    continue
                sessions = reader.sessions if through else apart
                session = sessions.get(key)
                if session is None:
                    session = sessions[key] = self._new(
                        operation.process, reader, key, called, after=reader.sessions.get(key)
                    )
                self._read(session, offsets, values, operation, called, at, own)
        for session in apart.values():
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
        mine = own.get(session.key)
        if mine and any(value in mine for value in values):
            for offset, value in zip(offsets, values, strict=True):
                seen = called if value in mine else at
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
