"""A transactional producer with short timeouts, and readers of its transactions."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from tests.integration.staging import eventually

SETTINGS: Final[dict[str, Any]] = {
    "log_level": 0,
    "socket.timeout.ms": 3000,
    "retry.backoff.ms": 50,
    "retry.backoff.max.ms": 200,
    "reconnect.backoff.ms": 50,
    "reconnect.backoff.max.ms": 500,
    "transaction.timeout.ms": 20000,
    "message.timeout.ms": 20000,
}
"""Short timeouts: by default, one lost EndTxn response takes 61 s."""
SECONDS = 60.0


def producer(bootstrap: str, transactional_id: str, **settings: int) -> Producer:
    """A producer with the harness's settings, overridden by `settings` (underscores for dots)."""
    own = {name.replace("_", "."): value for name, value in settings.items()}
    made = Producer(
        {**SETTINGS, "bootstrap.servers": bootstrap, "transactional.id": transactional_id, **own}
    )
    made.init_transactions(SECONDS)
    return made


def send(made: Producer, topic: str, *values: str) -> None:
    """Send values and wait until they are acknowledged."""
    for value in values:
        made.produce(topic, value=value.encode())
    assert made.flush(SECONDS) == 0


class Reader:
    """A consumer of a topic's only partition from its start."""

    def __init__(self, bootstrap: str, topic: str, isolation: str = "read_committed") -> None:
        self._consumer = Consumer({
            "log_level": 0,
            "bootstrap.servers": bootstrap,
            "group.id": "reader",
            "isolation.level": isolation,
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "earliest",
        })  # fmt: skip
        self._topic = topic

    def all(self) -> list[str]:
        """All values up to the end of the partition."""
        self._consumer.assign([TopicPartition(self._topic, 0, 0)])
        found = []
        while True:
            message = self._consumer.poll(SECONDS)
            assert message is not None, f"nothing came, after {found}"
            error = message.error()
            if error is None:
                found.append((message.value() or b"").decode())
            elif error.code() == KafkaError._PARTITION_EOF:
                return found
            else:
                raise KafkaException(error)

    def shows(self, *values: str) -> None:
        """Wait until exactly `values` are visible: EndTxn is answered before its markers exist."""
        eventually(lambda: self.all() == list(values), f"{list(values)} to be visible", self.all)

    def close(self) -> None:
        self._consumer.close()


class Background:
    """A call on a thread, and its exception."""

    def __init__(self, call: Callable[[], object]) -> None:
        self.error: Exception | None = None
        self._thread = threading.Thread(target=self._run, args=(call,), daemon=True)
        self._thread.start()

    @property
    def over(self) -> bool:
        return not self._thread.is_alive()

    def wait(self) -> Exception | None:
        self._thread.join(SECONDS)
        assert self.over, "it never returned"
        return self.error

    def _run(self, call: Callable[[], object]) -> None:
        try:
            call()
        except Exception as error:
            self.error = error
