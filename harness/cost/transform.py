"""Consume, transform, produce with librdkafka: `python -m onceproof.harness.cost.transform TASK`.

TASK is JSON: `bootstrap`, `source`, `sink`, `group`, `exactly_once`, `commit_every` (seconds) and
`linger` (milliseconds). Exactly once: results and offsets are committed in one transaction. At
least once: offsets are committed after all results have been acknowledged.
`harness/java/Transform.java` does the same with Kafka's own clients.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from typing import Any, Final

from confluent_kafka import Consumer, Producer, TopicPartition

from onceproof.harness.cost.load import say

_AT_ONCE: Final = 500
"""As many records as Kafka's own consumer returns at most."""
_WAIT: Final = 0.001
"""Seconds; `consume` waits so long if it has fewer records."""


class Transform:
    """One member of a group."""

    def __init__(self, task: Mapping[str, Any]) -> None:
        self._source, self._sink = str(task["source"]), str(task["sink"])
        self._every = float(task["commit_every"])
        self._exactly_once = bool(task["exactly_once"])
        common = {"bootstrap.servers": task["bootstrap"], "log_level": 0}
        writing = {**common, "linger.ms": task["linger"], "acks": "all"}
        if self._exactly_once:
            writing["transactional.id"] = task["group"]
        else:
            writing["enable.idempotence"] = True
        self._producer = Producer(writing)
        if self._exactly_once:
            self._producer.init_transactions(60)
        self._consumer = Consumer({
            **common,
            "group.id": task["group"],
            "isolation.level": "read_committed",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "fetch.wait.max.ms": 10,
        })  # fmt: skip
        self._consumer.subscribe([self._source])
        self._offsets: dict[int, int] = {}
        self._opened = 0.0

    def assigned(self) -> bool:
        self._pass_on()
        return bool(self._consumer.assignment())

    def step(self) -> None:
        self._pass_on()
        if self._offsets and time.monotonic() >= self._opened + self._every:
            self._commit()

    def _pass_on(self) -> None:
        for message in self._consumer.consume(_AT_ONCE, _WAIT):
            if message.error():
                raise SystemExit(str(message.error()))
            if not self._offsets:
                self._opened = time.monotonic()
                if self._exactly_once:
                    self._producer.begin_transaction()
            self._produce(message.value())
            place, offset = message.partition(), message.offset()
            assert place is not None, "it was read from a partition"
            assert offset is not None, "it was read from a partition"
            self._offsets[place] = offset + 1
        self._producer.poll(0)

    def _produce(self, value: bytes | None) -> None:
        while True:
            try:
                self._producer.produce(self._sink, value)
            except BufferError:
                self._producer.poll(_WAIT)
            else:
                return

    def _commit(self) -> None:
        offsets = [TopicPartition(self._source, *found) for found in self._offsets.items()]
        if self._exactly_once:
            metadata = self._consumer.consumer_group_metadata()
            self._producer.send_offsets_to_transaction(offsets, metadata, 60)
            self._producer.commit_transaction(60)
        else:
            self._producer.flush()
            self._consumer.commit(offsets=offsets, asynchronous=False)
        self._offsets.clear()


def main() -> None:
    transform = Transform(json.loads(sys.argv[1]))
    while not transform.assigned():
        pass
    say({"ready": True})
    while True:
        transform.step()


if __name__ == "__main__":
    main()
