"""A `read_committed` consumer that times records: `python -m onceproof.harness.cost.reader TASK`.

TASK is JSON: `bootstrap`, `topics` with their `partitions`, and `folder`. Each line of standard
input asks for a block, `{"topic": T, "block": B, "count": N, "seconds": S}`. When its N records
have been read, or S seconds have passed, the answer has their number, `read`, how many were read
`again`, when the last one was read, `last` (nanoseconds of the monotonic clock), the longest time
in which none came, `stall`, and `behind`, how often more were waiting than are taken at once. The
latencies of a block are in `folder/T-B.i64`, in nanoseconds from the time when a record was due to
the time when this consumer had it.
"""

from __future__ import annotations

import json
import queue
import sys
import threading
import time
from array import array
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

from onceproof.harness.cost.load import say
from onceproof.harness.cost.stamp import read_stamp

_AT_ONCE: Final = 5_000
_WAIT: Final = 0.001
"""Seconds; `consume` always waits so long, unless it has as many records, so latencies have it."""


class Reader:
    """One consumer of all topics."""

    def __init__(self, task: Mapping[str, Any]) -> None:
        self._folder = Path(task["folder"])
        self._consumer = Consumer({
            "bootstrap.servers": task["bootstrap"],
            "group.id": "cost-reader",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "fetch.wait.max.ms": 10,
            "log_level": 0,
        })  # fmt: skip
        self._consumer.assign([
            TopicPartition(topic, partition, OFFSET_BEGINNING)
            for topic in task["topics"]
            for partition in range(task["partitions"])
        ])  # fmt: skip
        self._latencies: dict[tuple[str, int], array[int]] = defaultdict(lambda: array("q"))
        self._numbers: dict[tuple[str, int], set[int]] = defaultdict(set)
        self._again: dict[tuple[str, int], int] = defaultdict(int)
        self._behind = 0
        self._last: dict[tuple[str, int], int] = {}
        self._stalls: dict[tuple[str, int], int] = defaultdict(int)

    def read(self) -> None:
        messages = self._consumer.consume(_AT_ONCE, _WAIT)
        now = time.monotonic_ns()
        self._behind += len(messages) == _AT_ONCE
        for message in messages:
            value = message.value()
            if value is None or message.error() or (found := read_stamp(value)) is None:
                continue
            due, block, number = found
            key = (str(message.topic()), block)
            if number in self._numbers[key]:
                self._again[key] += 1
                continue
            self._numbers[key].add(number)
            self._latencies[key].append(now - due)
            self._stalls[key] = max(self._stalls[key], now - self._last.get(key, now))
            self._last[key] = now

    def answer(self, *, topic: str, block: int, count: int, seconds: float) -> dict[str, float]:
        key, until = (topic, block), time.monotonic() + seconds
        while len(self._latencies[key]) < count and time.monotonic() < until:
            self.read()
        found, behind = self._latencies.pop(key), self._behind
        self._behind = 0
        (self._folder / f"{topic}-{block}.i64").write_bytes(found.tobytes())
        self._numbers.pop(key, None)
        return {
            "read": len(found),
            "again": self._again.pop(key, 0),
            "last": self._last.pop(key, 0),
            "stall": self._stalls.pop(key, 0) / 1e9,
            "behind": behind,
        }


def main() -> None:
    reader = Reader(json.loads(sys.argv[1]))
    orders: queue.SimpleQueue[str] = queue.SimpleQueue()

    def listen() -> None:
        for line in sys.stdin:
            orders.put(line)
        orders.put("")

    threading.Thread(target=listen, daemon=True).start()
    say({"ready": True})
    while True:
        try:
            line = orders.get_nowait()
        except queue.Empty:
            reader.read()
            continue
        if not line:
            return
        say(reader.answer(**json.loads(line)))


if __name__ == "__main__":
    main()
