"""From the operations of a Jepsen history to the tables of the contract.

This only applies the rules that `jepsen` documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

import pyarrow as pa
import pyarrow.compute as pc

from onceproof.checkers.history import History
from onceproof.checkers.imports.columns import table
from onceproof.checkers.imports.errors import shown
from onceproof.checkers.imports.imported import Imported
from onceproof.checkers.imports.jepsen_end import end_of, phases, some
from onceproof.checkers.imports.jepsen_events import Done, Events
from onceproof.checkers.imports.jepsen_log import Attempt, Records, Stretches, log_of
from onceproof.checkers.imports.jepsen_ops import Send

Isolation = Literal["read_committed", "read_uncommitted"]
_CLOCK: Final = "jepsen"
_LARGEST_PARTITION: Final = 2**31 - 1
_TXN_OUTCOMES: Final = {"ok": "committed", "fail": "aborted", "info": "info"}


def tables(
    events: Events, *, topic: str, isolation: Isolation, transactions: bool | None
) -> Imported:
    """The history behind some operations; `transactions` None: as the operations suggest."""
    made = _Tables(
        events, topic, isolation, events.several if transactions is None else transactions
    )
    given = {
        "sends": made.sends(),
        "log": made.log(),
        "reads": made.reads(),
        "assignments": made.assignments(),
        "phases": made.phases(),
        "hazards": made.hazards(),
    }
    if made.transactions:
        given["txns"] = made.txns()
    return Imported(
        history=History(given, source=str(events.path)),
        notes=made.notes(),
    )


class _Tables:
    """What all tables are made from."""

    def __init__(
        self, events: Events, topic: str, isolation: Isolation, transactions: bool
    ) -> None:
        self.transactions = transactions
        self._events = events
        self._topic = topic
        self._isolation = isolation
        self._names = events.names.keys
        self._partitions = _partitions(self._names)
        self._rows = [(done, send) for done in events.done for send in done.sends]
        self._attempts = _unique([events.record(send) for _, send in self._rows])
        polled = _polled(events)
        self._proven = self._proven_by(polled) if isolation == "read_committed" else set()
        self._log = log_of(
            polled,
            (self._attempt(done, send) for done, send in self._rows),
            Stretches(events.readers.sessions),
            transactions=transactions,
        )
        self._end = end_of(events.readers.sessions, self._log, self._last_sends())

    def sends(self) -> pa.Table:
        rows = self._rows
        done, sent = [d for d, _ in rows], [s for _, s in rows]
        records = [self._events.record(s) for s in sent]
        return table(
            "sends",
            len(rows),
            attempt=self._attempts,
            record=records,
            digest=[s.value for s in sent],
            ordinal=range(len(rows)),
            session=[str(d.process) for d in done],
            txn=[_txn(d) for d in done] if self.transactions else None,
            topic=self._topic,
            partition=[self._partitions[s.key] for s in sent],
            offset=[s.offset for s in sent],
            outcome=[self._outcome(d, s) for d, s in rows],
            called_at=[d.called for d in done],
            returned_at=[d.returned for d in done],
            clock=_CLOCK,
            error=[_error(d) for d in done],
        )

    def txns(self) -> pa.Table:
        done = self._events.done
        processes = [str(d.process) for d in done]
        return table(
            "txns",
            len(done),
            txn=[_txn(d) for d in done],
            session=processes,
            transactional_id=processes,
            outcome=[_TXN_OUTCOMES[d.type] for d in done],
            began_at=[d.called for d in done],
            commit_called_at=[d.called + 1 for d in done],
            # What is in doubt may still be carried out much later.
            ended_at=[None if d.type == "info" else d.returned for d in done],
            clock=_CLOCK,
            error=[_error(d) for d in done],
        )

    def log(self) -> pa.Table:
        keys: list[int] = []
        offsets: list[int] = []
        records: list[str | None] = []
        for key, there in self._log.entries.items():
            for offset, found in there.items():
                keys += [key] * len(found)
                offsets += [offset] * len(found)
                records += found
        return table(
            "log",
            len(keys),
            topic=self._topic,
            partition=self._partitions_of(keys),
            offset=offsets,
            kind="data",
            record=records,
            digest=[None if r is None else r.partition("/")[2] for r in records],
            committed=[r not in self._log.uncommitted for r in records],
        )

    def reads(self) -> pa.Table:
        rows = self._events.readers.reads
        count = len(rows.offset)
        starts = [0, *rows.end[:-1]]
        # What a run's first ordinal is ahead of its first place in the table, or behind it.
        ahead = [o - s for o, s in zip(rows.first_ordinal, starts, strict=False)]
        txns = [f"op {number}" for number in rows.operation] if self.transactions else None
        return table(
            "reads",
            count,
            reader=_spread(rows.reader, rows.end, pa.string()),
            session=_spread(rows.session, rows.end, pa.string()),
            ordinal=pc.add(
                pa.array(range(count), pa.int64()), _spread(ahead, rows.end, pa.int64())
            ),
            isolation=self._isolation,
            topic=self._topic,
            partition=_spread(self._partitions_of(rows.key), rows.end, pa.int32()),
            offset=rows.offset,
            record=rows.record,
            txn=None if txns is None else _spread(txns, rows.end, pa.string()),
            at=_spread(rows.at, rows.end, pa.int64()),
            clock=_CLOCK,
        )

    def assignments(self) -> pa.Table:
        last = self._events.now
        rows = [
            (session, None if place in self._end.to_the_end else session.ended or last)
            for place, session in enumerate(self._events.readers.sessions)
            if session.position is not None
        ]
        return table(
            "assignments",
            len(rows),
            reader=[str(s.process) for s, _ in rows],
            session=[s.name for s, _ in rows],
            isolation=self._isolation,
            topic=self._topic,
            partition=self._partitions_of([s.key for s, _ in rows]),
            position=[s.position for s, _ in rows],
            from_at=[s.began for s, _ in rows],
            until_at=[until for _, until in rows],
            clock=_CLOCK,
        )

    def phases(self) -> pa.Table:
        first = min((d.called for d in self._events.done), default=0)
        names = {key: f"{self._topic}-{n}" for key, n in enumerate(self._partitions)}
        rows = phases(self._end, self._log, names, first=first, last=self._events.now)
        columns = {name: [row[name] for row in rows] for name in rows[0]}
        return table("phases", len(rows), clock=_CLOCK, **columns)

    def hazards(self) -> pa.Table:
        """What was in doubt or aborted, of the operations that sent something."""
        what = "transaction" if self.transactions else "send"
        kinds = {"info": f"{what}-in-doubt"}
        if self.transactions:
            kinds["fail"] = "transaction-aborted"
        rows = [d for d in self._events.done if d.type in kinds and d.sends]
        attempts = zip(self._rows[::-1], self._attempts[::-1], strict=True)
        first = {done.number: attempt for (done, _), attempt in attempts}
        return table(
            "hazards",
            len(rows),
            hazard=[kinds[d.type] for d in rows],
            hop="produce",
            at=[d.called if d.returned is None else d.returned for d in rows],
            clock=_CLOCK,
            detail=[f":{d.f} of line {d.line}, by process {d.process}: {_error(d)}" for d in rows],
            attempt=[first[d.number] for d in rows],
        )

    def notes(self) -> tuple[str, ...]:
        """What had to be assumed, and what was left out."""
        counts = self._events.counts
        used = "transactions" if self.transactions else "no transactions"
        notes = [f"operations were read as {used}, isolation {self._isolation}"]
        if self._partitions != [int(n) if n.isdecimal() else n for n in self._names]:
            keys = [f"{self._topic}-{p} is key {n}" for p, n in enumerate(self._names)]
            notes.append(f"keys that are no partition numbers were numbered: {some(keys)}")
        notes += [
            f"{counts[what]} {words}"
            for what, words in (
                ("nemesis", "operations of the nemesis were left out"),
                ("never came back", "operations never came back and are in doubt"),
                ("uncertain", "operations that Jepsen says failed are in doubt by their error"),
                ("calls missing", "operations came back that were never called"),
            )
            if counts[what]
        ]
        if parts := sum(self._is_of_a_part(done, send) for done, send in self._rows):
            notes.append(
                f"{parts} sends have an offset although their operation failed, perhaps at "
                "another of its parts, and are in doubt"
            )
        return tuple(notes)

    def _attempt(self, done: Done, send: Send) -> Attempt:
        in_doubt = done.type == "info" and self.transactions
        return Attempt(
            key=send.key,
            record=self._events.record(send),
            offset=send.offset,
            effective=self._outcome(done, send) == "ok",
            possible=done.type == "ok" or (in_doubt and self._isolation == "read_committed"),
        )

    def _outcome(self, done: Done, send: Send) -> str:
        if send.answered and done.number in self._proven:
            return "ok"
        return "info" if self._is_of_a_part(done, send) else done.type

    def _is_of_a_part(self, done: Done, send: Send) -> bool:
        """Whether the operation may have failed at another of its parts than this send.

        Only outside transactions: in one its parts fail together.
        """
        return done.type == "fail" and done.parts > 1 and send.answered and not self.transactions

    def _proven_by(self, polled: dict[int, dict[int, Records]]) -> set[int]:
        """Transactions in doubt of which a committed read saw something."""
        if not self.transactions:
            return set()
        seen = {record for found in polled.values() for here in found.values() for record in here}
        times: dict[str, int] = {}
        for _, send in self._rows:
            record = self._events.record(send)
            times[record] = times.get(record, 0) + 1
        return {
            done.number
            for done, send in self._rows
            if done.type == "info"
            and (record := self._events.record(send)) in seen
            and times[record] == 1
        }

    def _last_sends(self) -> dict[int, int]:
        last: dict[int, int] = {}
        for done, send in self._rows:
            if self._outcome(done, send) == "ok" and done.returned is not None:
                last[send.key] = max(last.get(send.key, -1), done.returned)
        return last

    def _partitions_of(self, keys: list[int]) -> pa.Array:
        partitions = pa.array(self._partitions, pa.int32())
        return pc.take(partitions, pa.array(keys, pa.int64()))


def _txn(done: Done) -> str:
    return f"op {done.number}"


def _error(done: Done) -> str | None:
    if done.returned is None:
        return "never came back"
    return None if done.error is None else shown(done.error)


def _unique(records: list[str]) -> list[str]:
    """An attempt for each send: its record, and from the second on a number with it."""
    made: list[str] = []
    taken: set[str] = set(records)
    times: dict[str, int] = {}
    for record in records:
        number = times[record] = times.get(record, 0) + 1
        attempt = record
        while number > 1 and attempt in taken:
            attempt = f"{record}#{number}"
            number += 1
        times[record] = max(times[record], number - 1)
        taken.add(attempt)
        made.append(attempt)
    return made


def _partitions(names: list[str]) -> list[int]:
    """The partition of each key: its number, or its place if not all of them have one."""
    numbers = [int(n) if n.isdecimal() and n.isascii() and len(n) < 11 else -1 for n in names]
    if all(0 <= n <= _LARGEST_PARTITION for n in numbers) and len({*numbers}) == len(numbers):
        return numbers
    return list(range(len(names)))


def _polled(events: Events) -> dict[int, dict[int, Records]]:
    """Key → offset → the records that polls saw there; None only where none was named."""
    found: dict[int, dict[int, Records]] = {}
    rows = events.readers.reads
    start = 0
    for key, end in zip(rows.key, rows.end, strict=True):
        there = found.setdefault(key, {})
        for offset, record in zip(rows.offset[start:end], rows.record[start:end], strict=True):
            here = there.get(offset)
            if here is None or here == (None,):
                there[offset] = (record,)
            elif record is not None and record not in here:
                there[offset] = (*here, record)
        start = end
    return found


def _spread(values: Sequence[Any] | pa.Array, ends: list[int], type_: pa.DataType) -> pa.Array:
    """One value per row, from one per run."""
    runs = pa.RunEndEncodedArray.from_arrays(
        pa.array(ends, pa.int64()),
        values if isinstance(values, pa.Array) else pa.array(values, type_),
    )
    return pc.run_end_decode(runs)
