"""A member of our own in the pipeline's consumer group: it takes partitions and reads nothing."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Final

from confluent_kafka import Consumer, KafkaException, TopicPartition

from harness.bench import Bench
from harness.stage.base import StageTrouble
from harness.stage.topology import AUDITOR

ASSIGNORS: Final = ("range", "roundrobin", "cooperative-sticky")
"""Those that our client knows, as JoinGroup calls them."""
_SESSION_MS: Final = 30_000


def common(assignors: Sequence[str]) -> tuple[str, ...]:
    """The assignors that our member can offer too; the eager ones if there are any."""
    known = [name for name in assignors if name in ASSIGNORS]
    return tuple(name for name in known if name != "cooperative-sticky") or tuple(known)


class OtherMember:
    """It joins at once, on a thread of its own, and never commits."""

    def __init__(self, bench: Bench, group: str, assignors: Sequence[str], protocol: str) -> None:
        """Join.

        Raises:
            StageTrouble: our client knows none of the group's assignors.
        """
        offered = common(assignors)
        newer = protocol == "consumer"
        if not offered and not newer:
            raise StageTrouble(
                f"group {group} assigns partitions by {', '.join(assignors) or 'nothing'}; our "
                f"member knows only {', '.join(ASSIGNORS)}"
            )
        settings = {
            "bootstrap.servers": bench.stage.bootstrap(AUDITOR),
            "group.id": group,
            "client.id": "onceproof-other-member",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
        }
        if newer:
            settings["group.protocol"] = "consumer"
        else:
            settings["partition.assignment.strategy"] = ",".join(offered)
            settings["session.timeout.ms"] = _SESSION_MS
        self._consumer = Consumer(settings)
        self._over = threading.Event()
        self._assigned: list[TopicPartition] = []
        self._consumer.subscribe([bench.topic])
        self._thread = threading.Thread(target=self._stay, daemon=True)
        self._thread.start()

    @property
    def partitions(self) -> frozenset[tuple[str, int]]:
        """What it has been assigned."""
        return frozenset((each.topic, each.partition) for each in self._assigned)

    def leave(self) -> None:
        """Leave the group, which gets its partitions back."""
        self._over.set()
        self._thread.join()

    def _stay(self) -> None:
        while not self._over.is_set():
            self._consumer.poll(0.05)
            try:
                assigned = self._consumer.assignment()
                if fresh := [each for each in assigned if each not in self._assigned]:
                    self._consumer.pause(fresh)
            except KafkaException:
                continue  # it was taken away between the two calls
            self._assigned = assigned
        self._consumer.close()
