"""kafka-python member: `python -m onceproof.harness.subjects.group.member_kafka_python FILE`.

Its calls that end a transaction, or send offsets to one, have no timeout, so a watchdog covers
each. It rebalances only during `poll`, in this thread.
"""

from __future__ import annotations

from typing import Any, Final

from kafka import KafkaConsumer, KafkaProducer
from kafka.errors import IllegalStateError, KafkaError, KafkaTimeoutError
from kafka.structs import OffsetAndMetadata, TopicPartition

from onceproof.harness.kafka.connecting.connection import connection
from onceproof.harness.subjects.group.clients import KAFKA_PYTHON
from onceproof.harness.subjects.group.effect import effect_of
from onceproof.harness.subjects.group.life import LifeEnded, identity, live, say
from onceproof.harness.subjects.group.task import HUNG_SECONDS, MemberTask
from onceproof.harness.subjects.group.watchdog import Watchdog

_POLL_MS: Final = 200
_CALL_MS: Final = 10_000
"""Timeout of one call, after which it is repeated."""

Read = dict[TopicPartition, list[Any]]


class Member:
    """One life of one member."""

    def __init__(self, task: MemberTask) -> None:
        self.task = task
        common = {
            **connection(task.bootstrap).in_python(),
            "bootstrap_servers": task.bootstrap.split(","),
            "client_id": task.name,
        }
        self._consumer = KafkaConsumer(
            **_consumer_settings(), **common, group_id=task.group, max_poll_records=task.batch
        )
        self._producer = KafkaProducer(
            **KAFKA_PYTHON.producer, **common, transactional_id=task.own_transactional_id
        )
        self._watchdog = Watchdog(HUNG_SECONDS)

    def run(self) -> None:
        """Read and process until the process is ended.

        Raises:
            LifeEnded: it cannot continue.
        """
        self._init_transactions()
        self._consumer.subscribe([self.task.topic])
        while True:
            read = self._consumer.poll(_POLL_MS)
            if read:
                # Taken now: with the metadata of a later generation, it could commit offsets of
                # partitions that another member has by then.
                self._process(read, self._metadata())

    def _metadata(self) -> Any:
        """Return the group's metadata; before 3.0, where there is none, the group's id."""
        asked = getattr(self._consumer, "group_metadata", None)
        return self.task.group if asked is None else asked()

    def _init_transactions(self) -> None:
        with self._watchdog.over("init_transactions"):
            while True:
                try:
                    self._producer.init_transactions()
                    return
                except KafkaTimeoutError as error:
                    say(f"init_transactions: {error!r}")  # repeated as its documentation says

    def _process(self, read: Read, group: Any) -> None:
        """Write effects and offsets in one transaction; after an abort, rewind."""
        try:
            self._producer.begin_transaction()
            with self._watchdog.over("send"):
                self._send(read)
            with self._watchdog.over("send_offsets_to_transaction"):
                self._producer.send_offsets_to_transaction(_ends(read), group)
            with self._watchdog.over("commit_transaction"):
                self._producer.commit_transaction()
        except KafkaError as error:
            say(f"transaction: {error!r}")
            self._abort(error)
            if self.task.rewind:
                self._rewind()

    def _send(self, read: Read) -> None:
        # Not awaited: commit_transaction waits for all sends, and fails if one has failed.
        for records in read.values():
            for record in records:
                self._producer.send(
                    self.task.sink,
                    key=record.key,
                    value=effect_of(record.value),
                    headers=identity(record.headers),
                )

    def _abort(self, why: KafkaError) -> None:
        try:
            with self._watchdog.over("abort_transaction"):
                self._producer.abort_transaction()
        except KafkaError as second:
            raise LifeEnded(
                f"the producer cannot continue: {why!r}; its abort failed: {second!r}"
            ) from second

    def _rewind(self) -> None:
        for place in self._consumer.assignment():
            offset = self._committed(place)
            try:
                self._consumer.seek(place, offset or 0)
            except IllegalStateError as error:
                # The partition was revoked meanwhile; its new owner starts at the committed offset.
                say(f"seek: {error!r}")

    def _committed(self, place: TopicPartition) -> int | None:
        with self._watchdog.over("committed"):
            while True:
                try:
                    offset: int | None = self._consumer.committed(place, timeout_ms=_CALL_MS)
                    return offset
                except KafkaError as error:
                    say(f"committed: {error!r}")


def _consumer_settings() -> dict[str, Any]:
    settings = dict(KAFKA_PYTHON.consumer)
    if not hasattr(KafkaConsumer, "group_metadata"):
        # Before 3.0 a JoinGroup had the timeout of every request, and had to outlast a session.
        settings["request_timeout_ms"] = settings["session_timeout_ms"] + 1000
    return settings


def _ends(read: Read) -> dict[TopicPartition, OffsetAndMetadata]:
    return {
        place: OffsetAndMetadata(records[-1].offset + 1, "", -1) for place, records in read.items()
    }


if __name__ == "__main__":
    live(MemberTask, lambda task: Member(task).run(), KafkaError)
