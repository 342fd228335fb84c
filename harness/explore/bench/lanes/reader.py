"""What all lanes have in common whose client reads a topic in a group of its own."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import islice
from typing import ClassVar, Final

from confluent_kafka import KafkaError, Message, Producer

from onceproof.harness.clock import now
from onceproof.harness.explore.bench.lanes.base import Lane
from onceproof.harness.history.identity import RECORD_HEADER
from onceproof.harness.history.writer import HistoryWriter
from onceproof.harness.kafka.connecting.connection import connection
from onceproof.harness.kafka.coordinator import Coordinator
from onceproof.harness.kafka.group_offsets import commits, end_for
from onceproof.harness.kafka.groups import Group
from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.sinks.base import Sink
from onceproof.harness.subjects.group.positions import rows_of

PARTITIONS: Final = 2
"""Of the topic that is read; several, so that a transaction need not have all of them."""
_EVERY: Final = 0.2
_BY_KEY: Final = -1


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
    """A client that reads a topic; the lane's name is also that of its group and of its output.

    The input comes in parts of a transaction for each partition, each when the offsets of the one
    before are committed. So a client that takes all that there is has several transactions too.

    Attributes:
        at_once: whether all of it comes at once, because the client takes a transaction at a time.
    """

    at_once: ClassVar[bool] = False
    _ends: dict[int, int] = field(default_factory=dict, init=False)
    """Partition of the input → its end."""
    _since: int = field(default=0, init=False)
    _looked: float = field(default=0.0, init=False)
    _over: bool = field(default=False, init=False)

    @property
    def source(self) -> str:
        """The topic that it reads."""
        return f"{self.name}in"

    @property
    def topics(self) -> Mapping[str, int]:
        return {self.source: PARTITIONS, self.name: 1}

    @abstractmethod
    def inputs(self) -> Iterable[Input]:
        """Return `size` inputs."""

    @property
    def size(self) -> int:
        return self.load.transactions * self.load.records * PARTITIONS

    @cached_property
    def _left(self) -> Iterator[Input]:
        return iter(self.inputs())

    @abstractmethod
    def open_sink(self, reader: LogReader) -> Sink:
        """Open its output for reading."""

    def prepare(self, reader: LogReader) -> None:
        self._since = end_for(reader, self.name)

    def over(self) -> bool:
        """Return whether all inputs are committed; restart what ended by itself."""
        if self._over or time.monotonic() < self._looked + _EVERY:
            return self._over
        self._looked = time.monotonic()
        self.restart()
        if self.ready() and self._committed():
            each = self.load.records * PARTITIONS
            part = list(islice(self._left, self.size if self.at_once else each))
            self._send(part)
            self._over = not part
        return self._over

    def restart(self) -> None:
        """Start what ended by itself."""
        if not self.lives[-1].leader_alive():
            self.start()

    def ready(self) -> bool:
        """Return whether the input may be written."""
        return True

    @property
    def group(self) -> Group:
        around = self.around
        return Group(
            Coordinator(around.view, around.addresses, of="group", name=self.name, stop=around.stop)
        )

    def _committed(self) -> bool:
        """Return whether the offsets of all inputs so far are committed."""
        group = self.group
        return all((group.committed(self.source, n) or 0) >= end for n, end in self._ends.items())

    def _send(self, part: Iterable[Input]) -> None:
        producer = Producer({
            **connection(",".join(self.around.addresses.values())).librdkafka(),
            "log_level": 0, "linger.ms": 50, "enable.idempotence": True,
        })  # fmt: skip
        for each in part:
            producer.produce(
                self.source,
                key=each.key,
                value=each.value,
                headers=[(RECORD_HEADER, each.record), *each.headers],
                on_delivery=self._written,
                partition=each.partition,
            )
        producer.flush()

    def _written(self, error: KafkaError | None, message: Message) -> None:
        partition, offset = message.partition(), message.offset()
        if error is not None or partition is None or offset is None:
            raise OSError(f"an input of {self.name} was not written: {error}")
        self._ends[partition] = max(offset + 1, self._ends.get(partition, 0))

    def collect(self, writer: HistoryWriter, reader: LogReader) -> None:
        effects = self.open_sink(reader).effects()
        writer.write_all("effects", [asdict(effect) for effect in effects])
        at = now()
        found = [(commit, at) for commit in commits(reader, self.name, self._since)]
        writer.write_all("positions", rows_of(found, self.name, atomic_with=self.atomic_with))

    @property
    def atomic_with(self) -> Sequence[str]:
        """The outputs whose effects are committed together with the offsets."""
        return ()
