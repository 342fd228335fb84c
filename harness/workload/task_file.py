"""What a sender is told to do, in files that clients in any language read.

The one thing to know: Python writes the records once, one JSON object a line, and every client
sends just these. So identity, digests and which transaction is aborted on purpose are decided in
one place.

A sender is started with the path of its task, a JSON object with the fields of `SenderTask`. It

* takes orders on standard input, one a line: `rate N` (records a second, `inf`: as fast as it can;
  before the first one it sends nothing) and `enough` (send nothing new; what was sent still gets
  its outcome). The end of standard input means that the harness is gone: it exits at once.
* tells its status on standard output, at most every 0.1 s and once at its end, as one JSON object a
  line: `called`, `ok`, `not_ok` (each record counts once), `timeouts` (broker id → requests that
  timed out; empty where the client does not tell), `done`, and at its end `error`: why it could not
  go on (fenced …), or null. With transactions also `committed` and `aborted`: how many ended so.
* appends its history to `<history>/<name>.jsonl`, each write whole before it goes on: lines
  `called` before the client gets a record (with all columns of `sends` that are known by then) and
  `returned` when it has an outcome (`attempt`, `outcome`, `returned_at`, `partition`, `offset`,
  `error`); every 10 s a `clocks` line.

**Attempts.** A session is one life of a sender, `<name>/<start, monotonic ns, in hex>`. Its n-th
call, from 0, is the attempt `<session>/<n>`, and n is its `ordinal`. The record travels with the
headers `onceproof-record` and `onceproof-attempt`. `outcome` is `ok`; `fail`, only if the client
certainly never transmitted it; or `info`.

**Without transactions.** Each record is sent once; with `resends` the application itself sends it
again, as often as its client gives it up. As long as the application takes that for one send it is
one attempt, and a client that gives a record its attempt again says so (librdkafka); where each try
is a call of its own, each is an attempt (Java).

**With transactions** (`transactional_id` is set; each record says its `transaction`, whose records
stand together). Every try of one is a transaction of its own, `<session>/t<n>`, n from 0, which the
column `txn` of its calls names. Its row in `txns` is written when it begins, again before commit or
abort is called, and again when it has ended; the last one counts. Until then its outcome is `info`,
and stays so if nobody knows. Beside the columns of the table a row has `transaction`, as in the
records, and `intended`. A call that timed out and may be made again is made again; a transaction
that failed is aborted and tried again as a new one, unless it was to be aborted; after a fatal
error (fenced) the sender ends and says so in `error`, or goes on with a new client, which is a new
session.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from harness.workload.payments import Payment

Intended = Literal["commit", "abort"]


@dataclass(frozen=True, kw_only=True)
class SenderTask:
    """What a sender is told to do.

    Attributes:
        name: its name: the `client.id`, and the name of its history file.
        bootstrap: addresses of brokers.
        history: folder of the run's history.
        records: the file that `write_records` wrote.
        transactional_id: None: no transactions.
        acks: `all`, or `1`: only the leader's.
        idempotence: whether the brokers are to know a record that is sent again. Without it
            clients still retry by themselves.
        resends: whether the application sends a record again by itself after an error.
        request_timeout_ms: after which a client tries a request again.
        delivery_timeout_ms: after which it gives a record up.
        transaction_timeout_ms: after which the brokers abort an open transaction.
        client: settings of the client's own, which come on top.
    """

    name: str
    bootstrap: str
    history: str
    records: str
    transactional_id: str | None = None
    acks: Literal["all", "1"] = "all"
    idempotence: bool = True
    resends: bool = False
    request_timeout_ms: int = 1000
    delivery_timeout_ms: int = 120_000
    transaction_timeout_ms: int = 20_000
    client: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raises `ValueError` for what no client could do."""
        if self.transactional_id is not None and (self.resends or not self.idempotence):
            raise ValueError("a transactional sender is idempotent and sends nothing by itself")
        if self.idempotence and self.acks != "all":
            raise ValueError(f"acks={self.acks}: an idempotent sender needs acks=all")

    def save(self, path: Path) -> None:
        """Write it where the sender will read it."""
        path.write_text(json.dumps(asdict(self)))

    @classmethod
    def load(cls, path: Path) -> SenderTask:
        """The reverse of `save`."""
        return cls(**json.loads(path.read_text()))


@dataclass(frozen=True, kw_only=True)
class TaskRecord:
    """One record to be sent."""

    record: str
    """Its identity."""
    key: str
    value: bytes
    digest: str
    """Of key and value, as `harness.identity.digest` makes it."""
    topic: str
    partition: int | None = None
    """None: by its key."""
    transaction: int | None = None
    """Its transaction, counted from 0; None: sent without one."""
    intended: Intended = "commit"
    """What is to become of its transaction; the same for all of its records."""


def write_records(path: Path, records: Iterable[TaskRecord]) -> int:
    """Write records, one JSON object a line, the value in base64; returns how many there are."""
    count = 0
    with path.open("w", encoding="utf-8") as file:
        for record in records:
            value = base64.b64encode(record.value).decode()
            file.write(json.dumps({**asdict(record), "value": value}) + "\n")
            count += 1
    return count


def read_records(path: Path) -> Iterator[TaskRecord]:
    """The records of a file, in order."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            yield TaskRecord(**{**row, "value": base64.b64decode(row["value"])})


def plain(payments: Iterable[Payment], *, topic: str) -> Iterator[TaskRecord]:
    """Payments to one topic, by their keys, without transactions."""
    for payment in payments:
        yield _record(payment, topic)


def in_transactions(
    payments: Iterable[Payment],
    *,
    topics: Sequence[str],
    partitions: int,
    size: int,
    abort_every: int = 0,
) -> Iterator[TaskRecord]:
    """Payments in transactions of `size` records, spread over all partitions of all topics in turn.

    Args:
        payments: what is sent.
        topics: topics that each transaction is spread over.
        partitions: how many each topic has.
        size: records in each transaction; the last one may have fewer.
        abort_every: every n-th transaction is aborted on purpose; 0: none.
    """
    places = [(topic, partition) for partition in range(partitions) for topic in topics]
    for n, payment in enumerate(payments):
        transaction = n // size
        aborted = abort_every > 0 and transaction % abort_every == abort_every - 1
        topic, partition = places[n % len(places)]
        yield _record(
            payment,
            topic,
            partition=partition,
            transaction=transaction,
            intended="abort" if aborted else "commit",
        )


def _record(
    payment: Payment,
    topic: str,
    *,
    partition: int | None = None,
    transaction: int | None = None,
    intended: Intended = "commit",
) -> TaskRecord:
    return TaskRecord(
        record=payment.record,
        key=payment.account,
        value=payment.value,
        digest=payment.digest,
        topic=topic,
        partition=partition,
        transaction=transaction,
        intended=intended,
    )
