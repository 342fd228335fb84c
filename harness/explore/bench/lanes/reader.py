"""What all lanes have in common whose client reads a topic in a group of its own."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any, ClassVar, Final

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from onceproof.harness.clock import now
from onceproof.harness.explore.bench.lanes.base import Lane
from onceproof.harness.history.identity import RECORD_HEADER
from onceproof.harness.history.writer import HistoryWriter
from onceproof.harness.kafka.connecting.connection import connection
from onceproof.harness.kafka.coordinator import Coordinator, Refused
from onceproof.harness.kafka.group_offsets import Commit, commits, end_for
from onceproof.harness.kafka.groups import Group
from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.kafka.metadata import Coordinated
from onceproof.harness.kafka.transactions import TransactionalId
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.sinks.base import Effect, Sink
from onceproof.harness.subjects.group.positions import rows_of
from onceproof.harness.wait import Overdue, wait_until

PARTITIONS: Final = 3
"""Of the topic that is read; so a member of two has several, and not all in each transaction."""
_EVERY: Final = 0.2
_PATIENCE_SECONDS: Final = 15.0
_BY_KEY: Final = -1
_ABORT_SECONDS: Final = 30.0


@dataclass(frozen=True, kw_only=True)
class Input:
    """A record to be read; by default its key decides about its partition."""

    record: str
    key: bytes
    value: bytes | None
    headers: tuple[tuple[str, str | None], ...] = ()
    partition: int = _BY_KEY


@dataclass(kw_only=True)
class ReaderLane(Lane):
    """A client that reads a topic.

    The input comes in parts of a transaction for each partition, each when the offsets of the one
    before are committed. So a client that takes all that there is has several transactions too.
    One more part follows the faults, so that there is a transaction after them.

    Attributes:
        at_once: whether all of it comes at once, because the client takes a transaction at a time.
        aborted: whether the first part also comes before in transactions that are aborted, because
            the client has to skip them.
    """

    at_once: ClassVar[bool] = False
    aborted: ClassVar[bool] = False
    _ends: dict[int, int] = field(default_factory=dict, init=False)
    """Partition of the input → its end."""
    _since: int = field(default=0, init=False)
    _looked: float = field(default=0.0, init=False)
    _over: bool = field(default=False, init=False)
    _more: bool = field(default=False, init=False)
    _last_at: float = field(default=0.0, init=False)
    _sent: set[str] = field(default_factory=set, init=False)

    @property
    def source(self) -> str:
        """The topic that it reads."""
        return f"{self.name}in"

    @property
    def output(self) -> str:
        """The topic that it writes."""
        return self.name

    @property
    def group_id(self) -> str:
        return self.name

    @property
    def topics(self) -> Mapping[str, int]:
        return {self.source: PARTITIONS, self.output: 1}

    @abstractmethod
    def inputs(self) -> Iterable[Input]:
        """Return `size` inputs."""

    @property
    def _part(self) -> int:
        return self.load.records * PARTITIONS

    @property
    def size(self) -> int:
        """Number of inputs, with the part that follows the faults."""
        return (self.load.transactions + 1) * self._part

    @cached_property
    def _left(self) -> Iterator[Input]:
        return iter(self.inputs())

    @abstractmethod
    def open_sink(self, reader: LogReader) -> Sink:
        """Open its output for reading."""

    def prepare(self, reader: LogReader) -> None:
        self._since = end_for(reader, self.group_id)

    def over(self) -> bool:
        """Return whether all inputs are committed; restart what ended by itself."""
        if self._over or time.monotonic() < self._looked + _EVERY:
            return self._over
        self._looked = time.monotonic()
        self.restart()
        if self.ready() and (self._committed() or self._overdue()):
            wanted = self.size if self._more else self.size - self._part
            left = wanted - len(self._sent)
            part = list(islice(self._left, left if self.at_once else min(left, self._part)))
            first = self.aborted and not self._sent
            with self._among_aborted(part) if first else nullcontext():
                self._send(part)
            self._over = not part
        return self._over

    def go_on(self) -> None:
        self._more, self._over = True, False
        self._last_at = time.monotonic() + _PATIENCE_SECONDS

    def _overdue(self) -> bool:
        """Return whether the last part is due although offsets of earlier inputs are missing.

        A client that has lost inputs never commits them by themselves, but with those behind them.
        """
        return self._more and len(self._sent) < self.size and time.monotonic() > self._last_at

    def restart(self) -> None:
        """Start what ended by itself."""
        if not self.lives[-1].leader_alive():
            self.start()

    def ready(self) -> bool:
        """Return whether the input may be written."""
        return True

    @property
    def group(self) -> Group:
        return Group(self._coordinator("group", self.group_id))

    def _coordinator(self, of: Coordinated, name: str) -> Coordinator:
        around = self.around
        return Coordinator(around.view, around.addresses, of=of, name=name, stop=around.stop)

    def _committed(self) -> bool:
        """Return whether the offsets of all inputs so far are committed."""
        offsets = self._offsets_so_far()
        return all(offsets.get(n, 0) >= end for n, end in self._ends.items())

    def _offsets_so_far(self) -> Mapping[int, int]:
        """Return the newest committed offset by partition of the input; by default the group's."""
        group = self.group
        return {n: group.committed(self.source, n) or 0 for n in self._ends}

    def _send(self, part: Iterable[Input]) -> None:
        producer = self._producer()
        for each in part:
            self._produce(producer, each, self._written)
            self._sent.add(each.record)
        producer.flush()

    @contextmanager
    def _among_aborted(self, part: Sequence[Input]) -> Iterator[None]:
        """Write inputs in transactions that are aborted, around those that count.

        The first transaction is open until the others are written, so that readers of committed
        records get all of it at once. The second one is aborted when it has partitions but no
        records, so that its markers are those of an empty transaction. The third is compressed.
        """
        with self._or_trouble():
            uncommitted, aborted = self._aborting("none"), self._aborting("gzip")
            self._begin_with(uncommitted, part)
            if "empty" in self.load.aborted:
                aborted.begin_transaction()
                for each in part:
                    self._produce(aborted, each, _must_be_purged)
                self._wait_registered(self._id_of("gzip"))
                aborted.abort_transaction(_ABORT_SECONDS)
            if "compressed" in self.load.aborted:
                self._begin_with(aborted, part)
                aborted.abort_transaction(_ABORT_SECONDS)
        yield
        with self._or_trouble():
            uncommitted.abort_transaction(_ABORT_SECONDS)

    @contextmanager
    def _or_trouble(self) -> Iterator[None]:
        """Tell failures of these transactions from those of the client under test."""
        try:
            yield
        except (KafkaException, Overdue, Refused) as error:
            raise StageTrouble(f"inputs of {self.name} could not be aborted: {error}") from error

    def _id_of(self, compression: str) -> str:
        return f"{self.name}-{compression}"

    def _aborting(self, compression: str) -> Producer:
        producer = self._producer({
            "transactional.id": self._id_of(compression), "compression.type": compression,
            # So long that nothing is sent before a flush, which ignores it.
            "linger.ms": 30_000,
        })  # fmt: skip
        producer.init_transactions(_ABORT_SECONDS)
        return producer

    def _begin_with(self, producer: Producer, part: Iterable[Input]) -> None:
        """Begin a transaction, and wait until its inputs are written."""
        producer.begin_transaction()
        for each in part:
            self._produce(producer, each, _delivered)
        if left := producer.flush(_ABORT_SECONDS):
            raise StageTrouble(f"{left} inputs of {self.name} to be aborted were not written")

    def _wait_registered(self, transactional_id: str) -> None:
        """Wait until the transaction has all partitions of the input."""
        described = TransactionalId(self._coordinator("transaction", transactional_id))
        wait_until(
            lambda: (found := described.describe()) and len(found.partitions) == PARTITIONS,
            what=f"the partitions of {transactional_id}",
            seconds=_ABORT_SECONDS,
            stop=self.around.stop,
            seen=described.describe,
        )

    def _producer(self, more: Mapping[str, str | int] | None = None) -> Producer:
        brokers = ",".join(self.around.addresses.values())
        return Producer({
            **connection(brokers).librdkafka(),
            "log_level": 0, "linger.ms": 50, "enable.idempotence": True,
            **(more or {}),
        })  # fmt: skip

    def _produce(
        self, producer: Producer, each: Input, written: Callable[[KafkaError | None, Message], None]
    ) -> None:
        producer.produce(
            self.source,
            key=each.key,
            value=each.value,
            headers=[(RECORD_HEADER, each.record), *each.headers],
            on_delivery=written,
            partition=each.partition,
        )

    def _written(self, error: KafkaError | None, message: Message) -> None:
        partition, offset = message.partition(), message.offset()
        if error is not None or partition is None or offset is None:
            raise OSError(f"an input of {self.name} was not written: {error}")
        self._ends[partition] = max(offset + 1, self._ends.get(partition, 0))

    @abstractmethod
    def expected(self) -> Iterable[Mapping[str, Any]]:
        """Return the expected effects of all inputs, as rows of `expected`."""

    def effects(self, reader: LogReader) -> Iterable[Effect]:
        """Return all effects in its output."""
        return self.open_sink(reader).effects()

    def positions(self, reader: LogReader) -> list[Commit]:
        """Return the committed offsets, oldest first."""
        return commits(reader, self.group_id, self._since)

    def collect(self, writer: HistoryWriter, reader: LogReader) -> None:
        sent = [row for row in self.expected() if row["record"] in self._sent]
        writer.write_all("expected", sent)
        writer.write_all("effects", [asdict(effect) for effect in self.effects(reader)])
        at = now()
        found = [(commit, at) for commit in self.positions(reader)]
        writer.write_all("positions", rows_of(found, self.group_id, atomic_with=self.atomic_with))

    @property
    def atomic_with(self) -> Sequence[str]:
        """The outputs whose effects are committed together with the offsets."""
        return ()


def _must_be_purged(error: KafkaError | None, message: Message) -> None:
    if error is None:
        raise OSError("a record of an empty transaction was written")


def _delivered(error: KafkaError | None, message: Message) -> None:
    if error is not None:
        raise OSError(f"a record to be aborted was not written: {error}")
