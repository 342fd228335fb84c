"""One producer of the workload, a process of its own: `python -m harness.workload.producer FILE`.

The one thing to know: the call is on disk before the client gets the record, the outcome after. So
whatever kills this process, a record in the log always has a call, and a call without an outcome is
`info`. It takes its pace from standard input (`rate N`; `inf` is as fast as it can) and tells its
progress on standard output, one JSON object a line. Told `enough` it sends nothing new.
"""

from __future__ import annotations

import itertools
import json
import os
import select
import sys
import time
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaError, Message, Producer

from harness.clock import clock_id, now
from harness.identity import ATTEMPT_HEADER, RECORD_HEADER
from harness.recording.writer import HistoryWriter
from harness.workload.payments import Payment, Payments, payments_of

REQUEST_TIMEOUT_MS = 1000
CLIENT = {
    "acks": "all",
    "enable.idempotence": True,
    "linger.ms": 5,
    "partitioner": "murmur2_random",
    # Short limits, so that a lost response is noticed within a run; FACTS of librdkafka: the
    # request times out after 2.4-3.0 s with these, and the send is retried, never failed.
    "socket.timeout.ms": 1500,
    "request.timeout.ms": REQUEST_TIMEOUT_MS,
    "message.timeout.ms": 120_000,
    "retry.backoff.ms": 50,
    "retry.backoff.max.ms": 200,
    "reconnect.backoff.ms": 50,
    "reconnect.backoff.max.ms": 500,
    "statistics.interval.ms": 500,
    "log_level": 0,
}
"""Client settings, printed in the report."""

_NEVER_SENT = frozenset({KafkaError._PURGE_QUEUE})
"""Errors that certainly left nothing in the log: the record never left the queue."""
_STATUS_EVERY = 0.1


@dataclass(frozen=True, kw_only=True)
class ProducerTask:
    """What a producer is told to do; written as JSON for its process."""

    name: str
    producer: int
    seed: int
    bootstrap: str
    history: str
    workload: dict[str, Any]
    client: dict[str, Any]

    def save(self, path: Path) -> None:
        """Write it where the process will read it."""
        path.write_text(json.dumps(asdict(self)))


class _Run:
    """The sending of one producer's records."""

    def __init__(self, task: ProducerTask) -> None:
        self.task = task
        self.workload = Payments(**task.workload)
        self.history = HistoryWriter(Path(task.history), task.name)
        self.session = f"{task.name}/{now():x}"
        self.clock = clock_id()
        self.returned: list[dict[str, Any]] = []
        self.called = self.ok = self.not_ok = 0
        self.timeouts: dict[int, int] = {}
        self.rate = 0.0
        self.enough = False
        self.told = 0.0
        self.client = Producer(
            {
                **task.client,
                "bootstrap.servers": task.bootstrap,
                "client.id": task.name,
                "stats_cb": self.on_statistics,
            }
        )

    def send_all(self) -> None:
        """Send every record, at the pace that standard input says; wait for every outcome."""
        records = enumerate(
            payments_of(self.workload, producer=self.task.producer, seed=self.task.seed)
        )
        credit, last = 0.0, time.monotonic()
        while not self.enough:
            self.listen(0.0 if self.rate else 0.01)
            self.client.poll(0)
            current = time.monotonic()
            if self.rate == float("inf"):
                credit = 200.0
            else:
                credit = min(credit + (current - last) * self.rate, 200.0)
            last = current
            if credit >= 1:
                block = list(itertools.islice(records, int(credit)))
                if not block:
                    break
                credit -= len(block)
                self.send(block)
            else:
                self.client.poll(0.005)
            self.tell()
        while len(self.client):
            self.client.poll(0.05)
            self.listen(0)
            self.tell()
        self.tell(done=True)
        self.history.close()

    def send(self, block: list[tuple[int, Payment]]) -> None:
        """Write the calls of a block, then hand its records to the client."""
        at = now()
        self.history.write_all(
            "called",
            [
                {
                    "attempt": f"{self.session}/{n}",
                    "record": p.record,
                    "key": p.account,
                    "digest": p.digest,
                    "ordinal": n,
                    "session": self.session,
                    "topic": self.workload.topic,
                    "called_at": at,
                    "clock": self.clock,
                }
                for n, p in block
            ],
        )
        for n, payment in block:
            attempt = f"{self.session}/{n}"
            self.called += 1
            while True:
                try:
                    self.client.produce(
                        self.workload.topic,
                        key=payment.key,
                        value=payment.value,
                        headers=[
                            (RECORD_HEADER, payment.record.encode()),
                            (ATTEMPT_HEADER, attempt.encode()),
                        ],
                        on_delivery=partial(self.on_delivery, attempt),
                    )
                    break
                except BufferError:
                    # The client's queue is full (a partition without a leader): wait for room.
                    self.client.poll(0.05)
                    self.tell()
        self.client.poll(0)

    def on_delivery(self, attempt: str, error: KafkaError | None, message: Message) -> None:
        """Note an outcome. A client that retries may have been appended and then refused."""
        row: dict[str, Any] = {"attempt": attempt, "returned_at": now()}
        if error is None:
            self.ok += 1
            row |= {
                "outcome": "ok",
                "partition": message.partition(),
                "offset": message.offset(),
            }
        else:
            self.not_ok += 1
            certain = error.code() in _NEVER_SENT
            row |= {"outcome": "fail" if certain else "info", "error": str(error)}
        self.returned.append(row)

    def on_statistics(self, text: str) -> None:
        """Keep the number of requests that timed out, by broker id."""
        for broker in json.loads(text)["brokers"].values():
            node = broker["nodeid"]
            if node > 0:
                self.timeouts[node] = broker["req_timeouts"]

    def listen(self, seconds: float) -> None:
        """Take orders; waits at most `seconds` for one."""
        if not select.select([sys.stdin], [], [], seconds)[0]:
            return
        # Read the descriptor itself: a buffered reader would hide a second order from select.
        orders = os.read(sys.stdin.fileno(), 4096)
        if not orders:
            raise SystemExit("the harness is gone")
        for line in orders.decode().splitlines():
            word, _, value = line.partition(" ")
            if word == "rate":
                self.rate = float(value)
            elif word == "enough":
                self.enough = True

    def tell(self, *, done: bool = False) -> None:
        """Flush outcomes and tell the harness how far we are."""
        if not done and time.monotonic() - self.told < _STATUS_EVERY:
            return
        self.told = time.monotonic()
        if self.returned:
            rows, self.returned = self.returned, []
            self.history.write_all("returned", rows)
        status = {
            "called": self.called,
            "ok": self.ok,
            "not_ok": self.not_ok,
            "timeouts": self.timeouts,
            "done": done,
        }
        print(json.dumps(status), flush=True)


def main() -> None:
    """Read the task file named on the command line and send."""
    task = ProducerTask(**json.loads(Path(sys.argv[1]).read_text()))
    _Run(task).send_all()


if __name__ == "__main__":
    main()
