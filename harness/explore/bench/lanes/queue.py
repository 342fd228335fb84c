"""A forwarder that consumes a queue and sends what it got, with a fee, to another one."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import islice
from typing import ClassVar, Final

from onceproof.checkers import Claim, exactly_once
from onceproof.harness.explore.acts import Single
from onceproof.harness.explore.bench.lanes.base import Lane, in_turn, kind_of
from onceproof.harness.explore.bench.lanes.queue_windows import QueueWindows
from onceproof.harness.history.identity import RECORD_HEADER
from onceproof.harness.history.writer import HistoryWriter
from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.kafka.single_partition_log import ReaderOfAll
from onceproof.harness.links.gate.client import Event
from onceproof.harness.queues.auditor import QueueAuditor, QueueTrouble
from onceproof.harness.queues.log import QueueLog
from onceproof.harness.run.collect import write_log
from onceproof.harness.sinks.topic import TopicSink
from onceproof.harness.subjects.queue.clients import CLIENTS
from onceproof.harness.subjects.queue.moments import AFTER_COMMIT
from onceproof.harness.subjects.queue.subject import QueueForwarder
from onceproof.harness.subjects.queue.task import ForwarderTask
from onceproof.harness.workload.payments import Payment, Payments, payments_of

_EVERY: Final = 0.05
_LOST_SECONDS: Final = 15.0
"""After this time inputs that are not in the queue need not have been processed: they are lost."""
_FAILED: Final = ("retrying: ", "reconnecting: ")
"""How a forwarder begins to log that it connects again after an error."""


@dataclass(kw_only=True)
class QueueLane(Lane):
    """A forwarder with queues of its own.

    Each part of the input is sent in one transaction, when nothing of the one before is left. So a
    forwarder that takes all that there is has one transaction for each part.

    Attributes:
        subject: the forwarder, with the lane's output as its sink.
    """

    role: ClassVar[str] = "forwarder"
    subject: QueueForwarder
    _sent: int = field(default=0, init=False)
    """Number of inputs."""
    _parts: int = field(default=0, init=False)
    _wanted: int = field(default=0, init=False)
    """Number of parts before which it is over."""
    _units: int = field(default=0, init=False)
    """Number of units that had ended when the last part was sent."""
    _pending: list[Payment] = field(default_factory=list, init=False)
    """The next part, which is not sent yet."""
    _failed: bool = field(default=False, init=False)
    """Whether sending it has failed."""
    _sent_at: float = field(default=0.0, init=False)
    _looked: float = field(default=0.0, init=False)
    _over: bool = field(default=False, init=False)
    _failures: int = field(default=0, init=False)
    """Number of failures that had been logged when it was paused."""
    _requests: int | None = field(default=None, init=False)
    """Number of requests that it had sent when it was paused; None: the broker does not tell."""

    def __post_init__(self) -> None:
        self._wanted = self.load.transactions

    @property
    def source(self) -> str:
        return f"{self.name}in"

    @property
    def topics(self) -> Mapping[str, int]:
        return {}

    @property
    def logs(self) -> Sequence[str]:
        return [self.source]

    def claims(self) -> Sequence[Claim]:
        return [exactly_once(self.source, into=self.name, view=self.subject.view)]

    @property
    def _queues(self) -> QueueAuditor:
        return self.around.queues()

    @property
    def _payments(self) -> Payments:
        parts = self.load.transactions + 1
        return Payments(records=parts * self.load.records, producers=1, partitions=1)

    @cached_property
    def _left(self) -> Iterator[Payment]:
        return iter(payments_of(self._payments, producer=0, seed=0))

    @cached_property
    def windows(self) -> QueueWindows:
        return QueueWindows(
            self.around.work, self.name, lambda: self.lives[-1] if self.lives else None
        )

    def prepare(self, reader: LogReader) -> None:
        self._queues.create(self.source, consumed=True)
        self._queues.create(self.name, consumed=False)

    def start(self) -> None:
        self.windows.begin()
        around, name = self.around, f"{self.name}-{len(self.lives) + 1}"
        task = ForwarderTask(
            name=name,
            broker=around.queue_broker("pipeline"),
            source=self.subject.queue_broker.source(self.source),
            sink=self.name,
            acknowledge=self.subject.acknowledge,
            duplicate_ids=self.subject.duplicate_ids,
            work=str(around.work),
            history=str(around.history),
        )
        file = around.work / f"{name}.json"
        task.save(file)
        program = CLIENTS[self.subject.client].start(around.tools)
        self.lives.append(around.processes.start(name, program(file)))

    def over(self) -> bool:
        """Return whether all inputs are consumed; send the next ones, and restart what ended."""
        if self._over or time.monotonic() < self._looked + _EVERY:
            return self._over
        self._looked = time.monotonic()
        self.windows.check()
        if not self.lives[-1].leader_alive():
            self.start()
        if not self._pending and self._consumed():
            self._over = self._parts >= self._wanted
            self._pending = [] if self._over else list(islice(self._left, self.load.records))
        if self._pending:
            self._send()
        return self._over

    def go_on(self) -> None:
        self._wanted, self._over = self._wanted + 1, False

    def _consumed(self) -> bool:
        if not self._parts:
            return True
        if self.windows.units == self._units and time.monotonic() < self._sent_at + _LOST_SECONDS:
            return False
        try:
            left = self._queues.counts(self.source)
        except QueueTrouble:
            return False  # the broker is killed
        return left.messages == left.delivering == 0

    def _send(self) -> None:
        """Send the next part, in one transaction; again if it failed and had no effect."""
        try:
            if not (self._failed and self._has(self._pending[0])):
                self._units, self._sent_at = self.windows.units, time.monotonic()
                self._queues.send(self.source, map(_message, self._pending))
        except QueueTrouble:
            self._failed = True  # the broker is killed
            return
        self._parts += 1
        self._sent += len(self._pending)
        self._pending, self._failed = [], False

    def _has(self, payment: Payment) -> bool:
        entries = QueueLog(self._queues, self.source).read().entries
        return any(each.headers.get(RECORD_HEADER) == payment.record.encode() for each in entries)

    def take_over(self) -> None:
        life = len(self.lives)
        self._failures = len(self._logged(life))
        self._requests = self._asked(life)
        super().take_over()

    def is_back(self, life: int, messages: Sequence[Event]) -> bool:
        """Return whether it has noticed that its connection was closed, or asks for more."""
        if len(self._logged(life)) > self._failures:
            return True
        return self._requests is not None and (self._asked(life) or 0) > self._requests

    def _asked(self, life: int) -> int | None:
        with suppress(QueueTrouble):
            return self._queues.requests(self.source, f"{self.name}-{life}")
        return None  # the broker is killed

    def _logged(self, life: int) -> list[str]:
        log = self.lives[life - 1].log
        lines = log.read_text(errors="replace").splitlines() if log.exists() else []
        return [line for line in lines if line.startswith(_FAILED)]

    def without_effect(self, single: Single) -> str | None:
        """Disconnect it if that is the act; a broker that has no messages of it changes nothing."""
        try:
            left = self._queues.counts(self.source)
            if single.point.api != AFTER_COMMIT and not left.delivering:
                return "the broker had taken back the messages"
            if single.act.disconnects and not self._queues.disconnect(self.source):
                return "it was not connected"
        except QueueTrouble as error:
            return f"the queue broker did not answer: {error}"
        return None

    def replaced(self) -> bool:
        """Return whether its next life has messages in hand."""
        life = len(self.lives)
        return self.over() or any(event["life"] == life for event in self.windows.passed())

    def perceived(self) -> str:
        logged = [line for life in range(len(self.lives)) for line in self._logged(life + 1)]
        return in_turn([kind_of(line.partition(": ")[2]) for line in logged]) or "committed"

    def collect(self, writer: HistoryWriter, reader: LogReader) -> None:
        write_log(writer, QueueLog(self._queues, self.source).read(), {})
        there = {self.name: QueueLog(self._queues, self.name)}
        every = ReaderOfAll(self.around.view, self.around.addresses, there)
        sink = TopicSink(every, topic=self.name, view=self.subject.view)
        writer.write_all("effects", [asdict(effect) for effect in sink.effects()])
        expected = self._payments.expected(self.subject, producer=0, seed=0)
        writer.write_all("expected", list(islice(expected, self._sent)))


def _message(payment: Payment) -> Mapping[str, str]:
    return {
        "record": payment.record,
        "key": payment.key.decode(),
        "value": payment.value.decode(),
    }
