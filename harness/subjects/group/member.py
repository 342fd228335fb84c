"""A member that uses librdkafka: `python -m onceproof.harness.subjects.group.member FILE`.

Its loop follows the documentation of Kafka and librdkafka, one batch after the other. Flags in its
task make it a broken twin. A member that cannot continue exits, and the harness restarts it.
"""

from __future__ import annotations

import urllib.request
from collections.abc import Callable
from typing import Any, Final

from confluent_kafka import (
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
    libversion,
)

from onceproof.harness.kafka.connecting.connection import connection
from onceproof.harness.subjects.group.clients import LIBRDKAFKA, OF_THE_BROKER
from onceproof.harness.subjects.group.effect import effect_of
from onceproof.harness.subjects.group.life import LifeEnded, identity, live, say
from onceproof.harness.subjects.group.task import HUNG_SECONDS, MemberTask
from onceproof.harness.subjects.group.watchdog import Watchdog
from onceproof.harness.tools.runtimes.settings import known_settings

_SECONDS: Final = 10.0
"""Timeout of one call, after which it is repeated."""


class Member:
    """One life of one member."""

    def __init__(self, task: MemberTask) -> None:
        self.task = task
        common = {**connection(task.bootstrap).librdkafka(), "client.id": task.name}
        reading = LIBRDKAFKA.consumer
        if task.protocol == "consumer":
            kept = {name: reading[name] for name in reading.keys() - OF_THE_BROKER}
            reading = {**kept, "group.protocol": "consumer"}
        self._consumer = Consumer(
            {
                **reading,
                **common,
                "group.id": task.group,
                "enable.auto.commit": task.commits == "automatically",
            }
        )
        kind: dict[str, Any] = {"enable.idempotence": True}
        if task.commits == "in-transaction":
            kind = {"transactional.id": task.own_transactional_id}
        producer = known_settings("librdkafka", libversion()[0], LIBRDKAFKA.producer)
        self._producer = Producer({**producer, **common, **kind})
        self._watchdog = Watchdog(HUNG_SECONDS)
        self._failed: list[KafkaError] = []
        self._group: Any = None
        self._process: Callable[[list[Message]], None] = {
            "in-transaction": self._in_transaction,
            "before": self._before,
            "after": self._after,
            "automatically": self._produce,
        }[task.commits]

    def run(self) -> None:
        """Read and process until the process is ended.

        Raises:
            LifeEnded: it cannot continue.
        """
        if self.task.commits == "in-transaction":
            self._retry("init_transactions", self._producer.init_transactions)
        self._consumer.subscribe([self.task.topic])
        while True:
            messages = self._consumer.consume(self.task.batch, 0.2)
            for message in messages:
                if (error := message.error()) is not None:
                    say(f"consume: {error}")
            read = [message for message in messages if message.error() is None]
            if read:
                # Taken now: with the metadata of a later generation, it could commit offsets of
                # partitions that another member has by then.
                self._group = self._consumer.consumer_group_metadata()
                self._process(read)

    def _in_transaction(self, read: list[Message]) -> None:
        """Write effects and offsets in one transaction; after an abort, rewind."""
        try:
            self._producer.begin_transaction()
            self._send(read)
            ends = _ends(read)
            metadata = self._group if self.task.group_metadata else self._without_generation()
            self._retry(
                "send_offsets_to_transaction",
                lambda: self._producer.send_offsets_to_transaction(ends, metadata, _SECONDS),
            )
            self._retry("commit_transaction", lambda: self._producer.commit_transaction(_SECONDS))
        except KafkaException as failure:
            error = failure.args[0]
            say(f"transaction: {error}")
            if not error.txn_requires_abort():
                raise LifeEnded(f"the producer cannot continue: {error}") from failure
            self._retry("abort_transaction", lambda: self._producer.abort_transaction(_SECONDS))
            if self.task.rewind:
                self._rewind()

    def _before(self, read: list[Message]) -> None:
        """Commit offsets first: a later failure loses records."""
        if self._commit(read):
            self._produce(read)

    def _after(self, read: list[Message]) -> None:
        """Write effects first: a failure before the commit repeats them."""
        self._produce(read)
        self._commit(read)

    def _produce(self, read: list[Message]) -> None:
        self._send(read)
        with self._watchdog.over("flush"):
            while self._producer.flush(1.0):
                pass
        if self._failed:
            raise LifeEnded(f"an effect was not delivered: {self._failed[0]}")

    def _commit(self, read: list[Message]) -> bool:
        """Commit offsets; return whether the commit is known to have succeeded."""
        try:
            with self._watchdog.over("commit"):
                self._consumer.commit(offsets=_ends(read), asynchronous=False)
        except KafkaException as failure:
            say(f"commit: {failure.args[0]}")
            return False
        return True

    def _send(self, read: list[Message]) -> None:
        for message in read:
            payment = message.value() or b""
            if self.task.calls is not None:
                _call(self.task.calls, payment)
            self._producer.produce(
                self.task.sink,
                key=message.key(),
                value=effect_of(payment),
                headers=identity(message.headers() or []),
                on_delivery=self._delivered,
            )
        self._producer.poll(0)

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self._failed.append(error)

    def _without_generation(self) -> Any:
        """Return metadata of a consumer that never joined: the group id without a generation."""
        there = {**connection(self.task.bootstrap).librdkafka(), "group.id": self.task.group}
        return Consumer(there).consumer_group_metadata()

    def _retry(self, what: str, call: Callable[[], object]) -> None:
        """Repeat a call while its error is retriable, as librdkafka allows after a time-out."""
        with self._watchdog.over(what):
            while True:
                try:
                    call()
                    return
                except KafkaException as failure:
                    if not failure.args[0].retriable():
                        raise

    def _rewind(self) -> None:
        with self._watchdog.over("committed"):
            while True:
                try:
                    assigned = self._consumer.assignment()
                    committed = self._consumer.committed(assigned, timeout=_SECONDS)
                    break
                except KafkaException as failure:
                    say(f"committed: {failure.args[0]}")
        for place in committed:
            try:
                self._consumer.seek(place if place.offset >= 0 else _beginning(place))
            except KafkaException as failure:
                # The partition was revoked meanwhile; its new owner starts at the committed offset.
                say(f"seek: {failure.args[0]}")


def _beginning(place: TopicPartition) -> TopicPartition:
    return TopicPartition(place.topic, place.partition, 0)


def _ends(read: list[Message]) -> list[TopicPartition]:
    ends: dict[tuple[str, int], int] = {}
    for message in read:
        topic, partition, offset = message.topic(), message.partition(), message.offset()
        if topic is not None and partition is not None and offset is not None:
            ends[topic, partition] = offset + 1
    return [TopicPartition(topic, p, end) for (topic, p), end in ends.items()]


def _call(address: str, payment: bytes) -> None:
    request = urllib.request.Request(address, data=payment, method="POST")
    with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
        answer.read()


if __name__ == "__main__":
    live(MemberTask, lambda task: Member(task).run(), KafkaException)
