"""Runtime of the Python producer programs: records, pace, history, and progress reports.

A call is written to disk before the program gets the record, and its outcome afterwards. So even if
the process is killed, every record in the log has a call, and a call without an outcome is `info`.
`onceproof.harness.workload.task_file` specifies this for all languages.
"""

from __future__ import annotations

import itertools
import json
import os
import select
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from onceproof.harness.clock import clock_id, now
from onceproof.harness.history.identity import ATTEMPT_HEADER, RECORD_HEADER
from onceproof.harness.history.writer import HistoryWriter
from onceproof.harness.workload.task_file import SenderRecord, SenderTask, load_records

BLOCK: Final = 200
"""Maximum number of calls per write."""
_STATUS_EVERY: Final = 0.1
_LEAST_PAUSE: Final = 0.005
_MOST_PAUSE: Final = 0.05


@dataclass(frozen=True, kw_only=True)
class Call:
    """One call to send a record, recorded in the history."""

    attempt: str
    record: SenderRecord

    @property
    def key(self) -> bytes:
        return self.record.key.encode()

    @property
    def value(self) -> bytes | None:
        return self.record.value_sent

    @property
    def headers(self) -> list[tuple[str, str | bytes | None]]:
        """The record's own headers, and those that identify record and call in the log."""
        own = [(name, value and value.encode()) for name, value in self.record.headers]
        return [
            *own,
            (RECORD_HEADER, self.record.record.encode()),
            (ATTEMPT_HEADER, self.attempt.encode()),
        ]


@dataclass(frozen=True, kw_only=True)
class Transaction:
    """One transaction to send; the calls of its records are not recorded yet."""

    txn: str
    abort: bool
    """Whether the application aborts it on purpose."""
    records: tuple[tuple[int, SenderRecord], ...]


class SenderRuntime:
    """Work off one producer's task. Outcomes may be reported from any thread."""

    def __init__(
        self,
        task: SenderTask,
        *,
        orders: Callable[[], int] = sys.stdin.fileno,
        say: Callable[[str], None] = lambda line: print(line, flush=True),
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        """Open the history; `orders` returns the file descriptor of orders, `say` writes output."""
        self.task = task
        self.enough = False
        self.rate = 0.0
        self.timeouts: dict[int, int] = {}
        self._orders, self._say, self._seconds = orders, say, seconds
        self._history = HistoryWriter(Path(task.history), task.name)
        self._clock = clock_id()
        self._records: Iterator[tuple[int, SenderRecord]] = enumerate(
            load_records(Path(task.records))
        )
        self._next: tuple[int, SenderRecord] | None = next(self._records, None)
        self._credit, self._last, self._reported_at = 0.0, seconds(), 0.0
        self._lock = threading.Lock()
        self._returned: list[dict[str, Any]] = []
        self._open: set[str] = set()
        self._called = self._ok = self._not_ok = 0
        self._txn: dict[str, Any] = {}
        self.session = ""
        self.new_session()

    def new_session(self) -> None:
        self.session = f"{self.task.name}/{now():x}"

    @property
    def over(self) -> bool:
        return self.enough or self._next is None

    @property
    def waiting(self) -> int:
        return len(self._open)

    # What is to be sent.

    def due(self) -> list[Call]:
        """Record and return the calls that the pace allows now."""
        count = int(self._allowed())
        block = list(itertools.islice(self._remaining(), count))
        self._credit -= len(block)
        return self._call(block)

    def due_transaction(self) -> Transaction | None:
        """Begin, record and return the next transaction, if the pace allows it now."""
        if self.over or self._allowed() < 1:
            return None
        assert self._next is not None, "`over` is true without a next record"
        number, abort = self._next[1].transaction, self._next[1].abort
        records = list(self._of_transaction(number))
        self._credit -= len(records)  # may become negative, which delays the next transaction
        txn = f"{self.session}/t{number}"
        self._txn = {
            "txn": txn,
            "session": self.session,
            "transactional_id": self.task.transactional_id,
            "outcome": "info",
            "began_at": now(),
            "clock": self._clock,
        }
        self._history.write("txns", **self._txn)
        return Transaction(txn=txn, abort=abort, records=tuple(records))

    @property
    def until_due(self) -> float:
        """Seconds until the pace allows another record, capped so that orders are taken in time."""
        if not self.rate:
            return _LEAST_PAUSE
        return min(max((1 - self._credit) / self.rate, _LEAST_PAUSE), _MOST_PAUSE)

    def calls(self, transaction: Transaction) -> list[Call]:
        """Record and return the calls of a transaction."""
        return self._call(transaction.records, txn=transaction.txn)

    def _allowed(self) -> float:
        current = self._seconds()
        more = BLOCK if self.rate == float("inf") else (current - self._last) * self.rate
        self._credit, self._last = min(self._credit + more, float(BLOCK)), current
        return 0.0 if self.enough else self._credit

    def _of_transaction(self, number: int | None) -> Iterator[tuple[int, SenderRecord]]:
        while (found := self._next) is not None and found[1].transaction == number:
            self._next = next(self._records, None)
            yield found

    def _remaining(self) -> Iterator[tuple[int, SenderRecord]]:
        while self._next is not None:
            found, self._next = self._next, next(self._records, None)
            yield found

    def _call(
        self, block: Sequence[tuple[int, SenderRecord]], *, txn: str | None = None
    ) -> list[Call]:
        if not block:
            return []
        at = now()
        within = {} if txn is None else {"txn": txn}
        self._history.write_all(
            "called",
            [
                {
                    "attempt": f"{self.session}/{n}",
                    "record": record.record,
                    "key": record.key,
                    "digest": record.digest,
                    "ordinal": n,
                    "session": self.session,
                    "topic": record.topic,
                    "called_at": at,
                    "clock": self._clock,
                    **within,
                }
                for n, record in block
            ],
        )
        calls = [Call(attempt=f"{self.session}/{n}", record=record) for n, record in block]
        with self._lock:
            self._called += len(calls)
            self._open.update(call.attempt for call in calls)
        return calls

    # Outcomes.

    def acknowledged(self, attempt: str, partition: int | None, offset: int | None) -> None:
        """Record an acknowledged send; the offset is None if the broker did not return it."""
        row = {
            "attempt": attempt,
            "returned_at": now(),
            "outcome": "ok",
            "partition": partition,
            "offset": offset,
        }
        if self._closed(row):
            self._ok += 1

    def refused(self, attempt: str, error: object, *, certain: bool) -> None:
        """Record a failed send. `certain` is false if the record may still be in the log: a client
        that retries may fail after an append.
        """
        row = {
            "attempt": attempt,
            "returned_at": now(),
            "outcome": "fail" if certain else "info",
            "error": str(error) or type(error).__name__,
        }
        if self._closed(row):
            self._not_ok += 1

    def abandoned(self, error: object) -> None:
        """Record all open calls as `info`, because their client is closed."""
        with self._lock:
            still_open = sorted(self._open)
        for attempt in still_open:
            self.refused(attempt, error, certain=False)

    def _closed(self, row: dict[str, Any]) -> bool:
        with self._lock:
            known = row["attempt"] in self._open
            if known:
                self._open.discard(row["attempt"])
                self._returned.append(row)
            return known

    def commit_called(self) -> None:
        """Record that the current transaction's commit is about to be called."""
        self._txn |= {"commit_called_at": now()}
        self._history.write("txns", **self._txn)

    def ended(self, outcome: str, error: object = None) -> None:
        """Record the current transaction's outcome: `committed`, `aborted` or `info` (unknown)."""
        self._txn |= {"outcome": outcome, "ended_at": now()}
        self._txn |= {} if error is None else {"error": str(error) or type(error).__name__}
        self._history.write("txns", **self._txn)

    # The harness.

    def listen(self, seconds: float = 0.0) -> None:
        """Execute orders, waiting up to `seconds`; raise `SystemExit` if the harness has exited."""
        orders = self._orders()
        if not select.select([orders], [], [], seconds)[0]:
            return
        # Read the file descriptor: a buffered reader would hide a second order from select.
        data = os.read(orders, 4096)
        if not data:
            raise SystemExit("the harness is gone")
        for line in data.decode().splitlines():
            word, _, value = line.partition(" ")
            if word == "rate":
                self.rate = float(value)
            elif word == "enough":
                self.enough = True

    def report(self, *, done: bool = False) -> None:
        """Write outcomes and report progress, at most every 0.1 s unless `done`."""
        if not done and self._seconds() - self._reported_at < _STATUS_EVERY:
            return
        self._reported_at = self._seconds()
        with self._lock:
            rows, self._returned = self._returned, []
        if rows:
            self._history.write_all("returned", rows)
        status = {
            "called": self._called,
            "ok": self._ok,
            "not_ok": self._not_ok,
            "timeouts": self.timeouts,
            "done": done,
        }
        self._say(json.dumps(status))

    def close(self) -> None:
        """Send the last report, when every call has an outcome."""
        self.report(done=True)
        self._history.close()


def load_runtime() -> SenderRuntime:
    return SenderRuntime(SenderTask.load(Path(sys.argv[-1])))
