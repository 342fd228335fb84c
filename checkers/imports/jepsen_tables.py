"""Convert the operations of a Jepsen history to tables, by the rules that `jepsen` documents."""

from __future__ import annotations

from collections import Counter
from typing import Final, Literal

import pyarrow as pa
import pyarrow.compute as pc

from onceproof.checkers.history import History
from onceproof.checkers.imports.columns import table
from onceproof.checkers.imports.errors import shown
from onceproof.checkers.imports.imported import Imported
from onceproof.checkers.imports.jepsen_end import end_of, phases, some
from onceproof.checkers.imports.jepsen_events import CompletedOperation, Events
from onceproof.checkers.imports.jepsen_log import Attempt, ReadRanges, Records, log_of
from onceproof.checkers.imports.jepsen_ops import Send

Isolation = Literal["read_committed", "read_uncommitted"]
_CLOCK: Final = "jepsen"
_LARGEST_PARTITION: Final = 2**31 - 1
_TXN_OUTCOMES: Final = {"ok": "committed", "fail": "aborted", "info": "info"}


def tables(
    events: Events, *, topic: str, isolation: Isolation, transactions: bool | None
) -> Imported:
    """Build the history; `transactions` None: infer it from the operations."""
    made = _Tables(
        events, topic, isolation, events.several if transactions is None else transactions
    )
    given = {
        "sends": made.sends(),
        "log": made.log(),
        "reads": made.reads,
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
        self._records = [events.record(send) for _, send in self._rows]
        self._attempts = _unique(self._records)
        self.reads = self._read_rows()
        polled = self._polled()
        self._proven = self._proven_by(polled) if isolation == "read_committed" else set()
        self._log = log_of(
            polled,
            map(self._attempt, self._rows, self._records),
            ReadRanges(events.readers.sessions),
            transactions=transactions,
        )
        self._end = end_of(events.readers.sessions, self._log, self._last_sends())

    def sends(self) -> pa.Table:
        rows = self._rows
        done, sent = [d for d, _ in rows], [s for _, s in rows]
        return table(
            "sends",
            len(rows),
            attempt=self._attempts,
            record=self._records,
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
            # An operation in doubt may take effect much later.
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

    def _read_rows(self) -> pa.Table:
        prefixes = pa.array([f"{name}/" for name in self._names], pa.string())
        batches = [table("reads", 0)]
        for batch in self._events.readers.reads.batches():
            run = batch.runs
            count = len(batch.offsets)
            ends = pc.cumulative_sum(run["records"])
            # The difference between a run's first ordinal and its first index in the batch.
            ahead = pc.subtract(run["first_ordinal"], pc.subtract(ends, run["records"]))
            record = pc.binary_join_element_wise(
                _spread(prefixes.take(run["key"]), ends), batch.values, ""
            )
            txns = pc.binary_join_element_wise("op", run["operation"].cast(pa.string()), " ")
            batches.append(
                table(
                    "reads",
                    count,
                    reader=_spread(run["reader"], ends),
                    session=_spread(run["session"], ends),
                    ordinal=pc.add(pa.array(range(count), pa.int64()), _spread(ahead, ends)),
                    isolation=self._isolation,
                    topic=self._topic,
                    partition=_spread(self._partitions_of(run["key"]), ends),
                    offset=batch.offsets,
                    record=record,
                    txn=_spread(txns, ends) if self.transactions else None,
                    at=_spread(run["at"], ends),
                    clock=_CLOCK,
                )
            )
        return pa.concat_tables(batches)

    def _polled(self) -> dict[int, dict[int, Records]]:
        """Return key → offset → records that polls saw there; None only if they named none."""
        places = ["partition", "offset", "record"]
        # Many readers read the same record.
        seen = self.reads.select(places).group_by(places).aggregate([])
        seen = seen.sort_by([(place, "ascending") for place in places])
        keys = {partition: key for key, partition in enumerate(self._partitions)}
        found: dict[int, dict[int, Records]] = {}
        for partition, offset, record in zip(
            *(seen.column(name).to_pylist() for name in places), strict=True
        ):
            there = found.setdefault(keys[partition], {})
            here = there.get(offset)
            if here is None or here == (None,):
                there[offset] = (record,)
            elif record is not None and record not in here:
                there[offset] = (*here, record)
        return found

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
        """What was assumed or omitted."""
        counts = self._events.counts
        used = "transactions" if self.transactions else "no transactions"
        notes = [f"operations were read as {used}, isolation {self._isolation}"]
        if self._partitions != [int(n) if n.isdecimal() else n for n in self._names]:
            keys = [f"{self._topic}-{p} is key {n}" for p, n in enumerate(self._names)]
            notes.append(f"keys that are not partition numbers were numbered: {some(keys)}")
        notes += [
            f"{counts[what]} {words}"
            for what, words in (
                ("nemesis", "operations of the nemesis were ignored"),
                ("not completed", "operations were not completed, so their outcome is unknown"),
                ("uncertain", "operations failed with an error that leaves their outcome unknown"),
                ("invocation missing", "operations were completed but never invoked"),
            )
            if counts[what]
        ]
        if parts := sum(self._is_partial_failure(done, send) for done, send in self._rows):
            notes.append(
                f"{parts} sends have an offset although their operation failed, perhaps in another "
                "of its parts, so their outcome is unknown"
            )
        return tuple(notes)

    def _attempt(self, row: tuple[CompletedOperation, Send], record: str) -> Attempt:
        done, send = row
        in_doubt = done.type == "info" and self.transactions
        return Attempt(
            key=send.key,
            record=record,
            offset=send.offset,
            effective=self._outcome(done, send) == "ok",
            possible=done.type == "ok" or (in_doubt and self._isolation == "read_committed"),
        )

    def _outcome(self, done: CompletedOperation, send: Send) -> str:
        if send.answered and done.number in self._proven:
            return "ok"
        return "info" if self._is_partial_failure(done, send) else done.type

    def _is_partial_failure(self, done: CompletedOperation, send: Send) -> bool:
        """Whether an operation may have failed because of another part than this send.

        In a transaction, all parts fail together.
        """
        return done.type == "fail" and done.parts > 1 and send.answered and not self.transactions

    def _proven_by(self, polled: dict[int, dict[int, Records]]) -> set[int]:
        """Return the transactions in doubt of which a committed read saw something."""
        if not self.transactions:
            return set()
        seen = {record for found in polled.values() for here in found.values() for record in here}
        times = Counter(self._records)
        return {
            done.number
            for (done, _), record in zip(self._rows, self._records, strict=True)
            if done.type == "info" and record in seen and times[record] == 1
        }

    def _last_sends(self) -> dict[int, int]:
        last: dict[int, int] = {}
        for done, send in self._rows:
            if self._outcome(done, send) == "ok" and done.returned is not None:
                last[send.key] = max(last.get(send.key, -1), done.returned)
        return last

    def _partitions_of(self, keys: list[int] | pa.Array) -> pa.Array:
        partitions = pa.array(self._partitions, pa.int32())
        return partitions.take(keys if isinstance(keys, pa.Array) else pa.array(keys, pa.int64()))


def _txn(done: CompletedOperation) -> str:
    return f"op {done.number}"


def _error(done: CompletedOperation) -> str | None:
    if done.returned is None:
        return "not completed"
    return None if done.error is None else shown(done.error)


def _unique(records: list[str]) -> list[str]:
    """Name an attempt for each send: its record, with a number from the second on."""
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
    """Return each key's partition: its number, or its index if not all keys are numbers."""
    numbers = [int(n) if n.isdecimal() and n.isascii() and len(n) < 11 else -1 for n in names]
    if all(0 <= n <= _LARGEST_PARTITION for n in numbers) and len({*numbers}) == len(numbers):
        return numbers
    return list(range(len(names)))


def _spread(runs: pa.Array, ends: pa.Array) -> pa.Array:
    """Repeat each run's value for all its rows."""
    return pc.run_end_decode(pa.RunEndEncodedArray.from_arrays(ends, runs))
