"""One consumer process: `python -m onceproof.harness.subjects.stored.member FILE`.

It starts from the offsets in its database, not from the group's. If the response to a commit is
lost, the stored offsets decide whether it took effect; it never retries blindly. Its broken twins
keep their offsets in Kafka, or do not compare them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

from onceproof.harness.clock import clock_id, now
from onceproof.harness.history.writer import HistoryWriter
from onceproof.harness.kafka.connecting.connection import connection
from onceproof.harness.subjects.group.clients import LIBRDKAFKA
from onceproof.harness.subjects.group.life import LifeEnded, live, say
from onceproof.harness.subjects.group.task import HUNG_SECONDS
from onceproof.harness.subjects.group.watchdog import Watchdog
from onceproof.harness.subjects.stored.batch import Batch, batch_of
from onceproof.harness.subjects.stored.hazards import REFUSED
from onceproof.harness.subjects.stored.postgres import PostgresStore
from onceproof.harness.subjects.stored.read_progress import note
from onceproof.harness.subjects.stored.sqlite import SqliteStore
from onceproof.harness.subjects.stored.store import Refused, Store, Unreachable
from onceproof.harness.subjects.stored.task import StoringTask

_TRANSACTIONS: Final = 10
"""Maximum number of batches, each one transaction, that it reads at once."""
_PAUSE: Final = 0.2
"""Seconds between two attempts to reach the database."""


class StoringMember:
    """One life of one consumer."""

    def __init__(self, task: StoringTask, consumer: Consumer, store: Store) -> None:
        self.task = task
        self._consumer = consumer
        self._store = store
        self._history = HistoryWriter(Path(task.history), f"{task.name}-{os.getpid()}")
        self._watchdog = Watchdog(HUNG_SECONDS)
        self._next: dict[int, int] = {}
        """Partition → next offset, as stored in the database."""
        self._process: Callable[[list[Message]], bool] = {
            "in-transaction": self._with_offsets,
            "before": self._before,
            "after": self._after,
        }[task.commits]

    def run(self) -> None:
        """Read and write until the process is ended.

        Raises:
            LifeEnded: it cannot continue.
        """
        if self.task.commits == "in-transaction":
            self._consumer.subscribe(
                [self.task.topic], on_assign=self._assigned, on_revoke=self._revoked
            )
        else:
            self._consumer.subscribe([self.task.topic])
        while True:
            messages = self._consumer.consume(self.task.batch * _TRANSACTIONS, 0.2)
            for message in messages:
                if (error := message.error()) is not None:
                    say(f"consume: {error}")
            read = [message for message in messages if message.error() is None]
            if read:
                # The last message of a partition decides.
                ends = {m.partition() or 0: (m.offset() or 0) + 1 for m in read}
                note(Path(self.task.in_hand), ends)
            for first in range(0, len(read), self.task.batch):
                if not self._process(read[first : first + self.task.batch]):
                    break  # the rest is read again, or belongs to another member

    def _with_offsets(self, read: list[Message]) -> bool:
        """Write rows, balances and offsets in one transaction; return whether to continue."""
        batch = batch_of(self.task.topic, read, self._next)
        while batch.rows:
            try:
                self._write(batch, offsets=True)
            except Refused as reason:
                self._record_hazard(REFUSED, str(reason))
                self._rewind()
                return False
            except Unreachable as reason:
                say(f"write: {reason}")
                if self._stored(batch.starts) != batch.starts:
                    # The write had succeeded, or another member has continued.
                    self._rewind()
                    return False
            else:
                self._next |= batch.ends
                return True
        return False

    def _before(self, read: list[Message]) -> bool:
        """Commit offsets in Kafka first: a later failure loses records."""
        batch = self._whole_batch(read)
        if not self._commit(batch):
            return False
        try:
            self._write(batch, offsets=False)
        except Unreachable as reason:
            say(f"write: {reason}")
        return True

    def _after(self, read: list[Message]) -> bool:
        """Write rows first: what is not known to be written is written again."""
        batch = self._whole_batch(read)
        while True:
            try:
                self._write(batch, offsets=False)
                if self.task.cleans:
                    self._store.clean(batch)
                break
            except Unreachable as reason:
                say(f"write: {reason}")
                time.sleep(_PAUSE)
        self._commit(batch)
        return True

    def _whole_batch(self, read: list[Message]) -> Batch:
        starts: dict[int, int] = {}
        for message in read:
            if (partition := message.partition()) is not None:
                starts.setdefault(partition, message.offset() or 0)
        return batch_of(self.task.topic, read, starts)

    def _write(self, batch: Batch, *, offsets: bool) -> None:
        with self._watchdog.over("write"):
            self._store.write(batch, offsets=offsets)

    def _commit(self, batch: Batch) -> bool:
        """Commit offsets in Kafka; return whether the commit is known to have succeeded."""
        try:
            with self._watchdog.over("commit"):
                self._consumer.commit(offsets=self._places(batch.ends), asynchronous=False)
        except KafkaException as failure:
            say(f"commit: {failure.args[0]}")
            return False
        return True

    def _assigned(self, consumer: Consumer, places: list[TopicPartition]) -> None:
        """Start from the stored offsets, whatever the group has committed."""
        self._next = self._stored(place.partition for place in places)
        consumer.assign(self._places(self._next))

    def _revoked(self, consumer: Consumer, places: list[TopicPartition]) -> None:
        self._next = {}

    def _rewind(self) -> None:
        """Seek to the stored offsets in all assigned partitions.

        Raises:
            LifeEnded: the client cannot seek; the next batch would not start at the compared
                offset.
        """
        stored = self._stored(place.partition for place in self._consumer.assignment())
        for place in self._places(stored):
            try:
                self._consumer.seek(place)
            except KafkaException as failure:
                raise LifeEnded(f"seek to {place.offset}: {failure.args[0]}") from failure
        self._next = stored

    def _stored(self, partitions: Iterable[int]) -> dict[int, int]:
        """Return the stored offsets; retry until the database answers."""
        wanted = tuple(partitions)
        while True:
            try:
                with self._watchdog.over("read offsets"):
                    return self._store.stored(self.task.topic, wanted)
            except Unreachable as reason:
                say(f"read offsets: {reason}")
                time.sleep(_PAUSE)

    def _places(self, offsets: Mapping[int, int]) -> list[TopicPartition]:
        return [TopicPartition(self.task.topic, p, offset) for p, offset in offsets.items()]

    def _record_hazard(self, hazard: str, detail: str) -> None:
        say(f"{hazard}: {detail}")
        self._history.write(
            "hazards",
            hazard=hazard,
            hop="process",
            at=now(),
            clock=clock_id(),
            fault=None,
            detail=f"{self.task.name}: {detail}",
            owner=self.task.group,
            batch=None,
            attempt=None,
        )


def _store(task: StoringTask) -> Store:
    if task.kind == "sqlite":
        return SqliteStore(Path(task.database), guard=task.guard)
    return PostgresStore(task.database, name=task.name, guard=task.guard)


def _run(task: StoringTask) -> None:
    consumer = Consumer(
        {
            **LIBRDKAFKA.consumer,
            **connection(task.bootstrap).librdkafka(),
            "client.id": task.name,
            "group.id": task.group,
            "enable.auto.commit": False,
        }
    )
    StoringMember(task, consumer, _store(task)).run()


if __name__ == "__main__":
    live(StoringTask, _run, KafkaException)
