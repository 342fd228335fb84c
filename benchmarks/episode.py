"""One episode of a history, told step by step: what is sent, logged, done and expected.

Every row here is right because it is written down as it happens, in plain
Python; a big history is this episode over and over, with its numbers moved on. It has what real
ones have: sends that nobody knows the outcome of, records that the application sent twice, and,
with transactions, aborted ones and one whose commit was never answered.
"""

from __future__ import annotations

import random
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Final

from benchmarks.counters import PARTITIONS, PRODUCERS, Counters
from benchmarks.plan import Plan, Shape

Row = dict[str, Any]

ODD: Final = 0.001
"""The share of sends without an outcome, and of records that are sent twice."""
ABORTED: Final = 0.05
IN_DOUBT: Final = 0.005
"""The share of transactions that are aborted, and whose commit was never answered."""
TXN_RECORDS: Final = 100
_KEYS_OF_A_PARTITION: Final = 125
_COMMIT_STEPS: Final = 500
"""From the last send of a transaction to the call of its commit, and from there to its end."""


@dataclass(kw_only=True)
class Episode:
    """The rows of one episode, and where the counters stood before and after."""

    sends: list[Row] = field(default_factory=list)
    txns: list[Row] = field(default_factory=list)
    log: list[Row] = field(default_factory=list)
    effects: list[Row] = field(default_factory=list)
    expected: list[Row] = field(default_factory=list)
    start: Counters
    end: Counters


@dataclass(kw_only=True)
class _Txn:
    """A transaction while it is open."""

    row: Row
    fate: str
    sent: int = 0
    entries: list[Row] = field(default_factory=list)


def episode(plan: Plan, records: int, start: Counters | None = None) -> Episode:
    """The episode of so many records, from where the counters stand."""
    return _Teller(plan, records, start or Counters()).tell()


def legs(shape: Shape, record: int) -> tuple[str, ...]:
    """The effect keys that one committed position of a record must have."""
    if shape is Shape.FILTER:
        return () if record % 4 == 0 else ("",)
    if shape is Shape.ONE_TO_MANY:
        return ("credit", "debit") if record % 3 else ("credit", "debit", "fee")
    return ("",)


class _Teller:
    def __init__(self, plan: Plan, records: int, start: Counters) -> None:
        self._plan = plan
        self._records = records
        self._draw = random.Random(f"{plan.name}/{records}")
        self._now = deepcopy(start)
        self._told = Episode(start=start, end=self._now)
        self._open: dict[int, _Txn] = {}
        self._fates = self._draw_fates()

    def tell(self) -> Episode:
        """Send everything, close what is open, and work out what the pipeline made of it."""
        often = _share(ODD, self._records, least_from=100)
        twice, unanswered, never = (
            set(self._draw.sample(range(self._records), often)) for _ in range(3)
        )
        sent: list[tuple[int, int, int]] = []
        for n in range(self._records):
            producer = n % PRODUCERS
            record = (producer, self._take(self._now.record, producer), self._draw_key())
            self._told.expected += [
                {"producer": producer, "record": record[1], "leg": leg}
                for leg in legs(self._plan.shape, record[1])
            ]
            if self._plan.transactions:
                self._send(record)
            else:
                self._send(record, appended=n not in never, answered=n not in unanswered)
            sent.append(record)
            if n in twice:
                self._send(self._draw.choice(sent))
        for producer in list(self._open):
            self._close(producer)
        self._told.log.sort(key=lambda entry: (entry["partition"], entry["offset"]))
        self._process()
        return self._told

    def _send(
        self, record: tuple[int, int, int], *, appended: bool = True, answered: bool = True
    ) -> None:
        producer, number, key = record
        partition = key % PARTITIONS
        txn = self._in_txn(producer)
        if txn is not None:
            txn.sent += 1
            last = txn.sent == TXN_RECORDS
            appended = not (last and txn.fate == "aborted")
            answered = not (last and txn.fate == "info")
        row: Row = {
            "producer": producer,
            "ordinal": self._take(self._now.ordinal, producer),
            "record": number,
            "key": key,
            "txn": txn.row["txn"] if txn else None,
            "partition": None,
            "offset": None,
            "outcome": "ok" if appended and answered else "info",
            "called": self._now.step,
        }
        self._now.step += 1
        self._told.sends.append(row)
        if appended:
            entry = self._append(partition, "data", producer, committed=txn is None)
            entry |= {n: row[n] for n in ("ordinal", "record", "key")}
            entry["sequence"] = self._take(self._now.sequence, (producer, partition))
            if txn is not None:
                txn.entries.append(entry)
            if answered:
                row |= {"partition": partition, "offset": entry["offset"]}
        if txn is not None and txn.sent == TXN_RECORDS:
            self._close(producer)

    def _append(self, partition: int, kind: str, producer: int, *, committed: bool) -> Row:
        entry: Row = {
            "partition": partition,
            "offset": self._take(self._now.offset, partition),
            "kind": kind,
            "producer": producer,
            "ordinal": None,
            "record": None,
            "key": None,
            "sequence": None,
            "committed": committed,
        }
        self._told.log.append(entry)
        return entry

    def _in_txn(self, producer: int) -> _Txn | None:
        if not self._plan.transactions:
            return None
        if producer not in self._open:
            row = {
                "producer": producer,
                "txn": self._take(self._now.txn, producer),
                "began": self._now.step,
            }
            self._open[producer] = _Txn(row=row, fate=self._fates.pop())
        return self._open[producer]

    def _close(self, producer: int) -> None:
        txn = self._open.pop(producer)
        aborted = txn.fate == "aborted"
        self._now.step += _COMMIT_STEPS
        txn.row["outcome"] = txn.fate
        txn.row["commit_called"] = None if aborted else self._now.step
        self._now.step += _COMMIT_STEPS
        txn.row["ended"] = None if txn.fate == "info" else self._now.step
        self._told.txns.append(txn.row)
        for entry in txn.entries:
            entry["committed"] = not aborted
        for partition in sorted({entry["partition"] for entry in txn.entries}):
            self._append(partition, "abort" if aborted else "commit", producer, committed=True)

    def _process(self) -> None:
        """One micro-batch: every committed position, partition by partition, to its effects."""
        for entry in self._told.log:
            if entry["kind"] == "data" and entry["committed"]:
                for leg in legs(self._plan.shape, entry["record"]):
                    self._told.effects.append(
                        {n: entry[n] for n in ("producer", "record", "partition", "offset")}
                        | {"leg": leg, "effect": self._now.effect}
                    )
                    self._now.effect += 1

    def _draw_key(self) -> int:
        return self._draw.randrange(PARTITIONS * _KEYS_OF_A_PARTITION)

    def _draw_fates(self) -> list[str]:
        """What becomes of each transaction; more than enough of them, for re-sends come on top."""
        count = self._records // TXN_RECORDS
        aborted = _share(ABORTED, count, least_from=4)
        in_doubt = _share(IN_DOUBT, count, least_from=4)
        fates = ["aborted"] * aborted + ["info"] * in_doubt
        fates += ["committed"] * (count - len(fates))
        self._draw.shuffle(fates)
        return ["committed"] * (PRODUCERS + 1 + self._records // TXN_RECORDS) + fates

    def _take(self, counter: Any, key: object) -> int:
        number: int = counter[key]
        counter[key] += 1
        return number


def _share(share: float, count: int, *, least_from: int) -> int:
    """A share of a count, at least one where there are enough."""
    return max(round(share * count), 1 if count >= least_from else 0)
