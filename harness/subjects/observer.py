"""A reader of topics during the whole run: `python -m onceproof.harness.subjects.observer TASK`.

It assigns itself every partition from the beginning, and never commits or joins a group: so no
rebalance explains what it skips, repeats or wrongly sees. It ends on request, or with its harness.
"""

from __future__ import annotations

import json
import os
import select
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from onceproof.harness.clock import clock_id, now
from onceproof.harness.history.identity import ATTEMPT_HEADER, RECORD_HEADER
from onceproof.harness.history.writer import HistoryWriter
from onceproof.harness.kafka.connecting.connection import connection

_STATUS_EVERY: Final = 0.1


@dataclass(frozen=True, kw_only=True)
class ObserverTask:
    """The task of an observer.

    Attributes:
        name: its client id, and the name of its history file.
        isolation: the isolation level that its reads are judged by.
    """

    name: str
    bootstrap: str
    history: str
    partitions: Sequence[tuple[str, int]]
    client: Mapping[str, Any]
    isolation: str

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)))

    @classmethod
    def load(cls, path: Path) -> ObserverTask:
        return cls(**json.loads(path.read_text()))


class _Observing:
    def __init__(self, task: ObserverTask) -> None:
        self._task = task
        self._history = HistoryWriter(Path(task.history), task.name)
        self._common = {
            "reader": task.name, "session": f"{task.name}/{now():x}", "isolation": task.isolation,
            "clock": clock_id(),
        }  # fmt: skip
        self._read = 0
        self._ends: dict[str, int] = {}
        self._status_at = 0.0
        self._consumer = Consumer(
            {**task.client, **connection(task.bootstrap).librdkafka(), "client.id": task.name}
        )

    def read_all(self) -> None:
        self._history.write_all(
            "assignments",
            [
                {**self._common, "topic": t, "partition": p, "position": 0, "from_at": now()}
                for t, p in self._task.partitions
            ],
        )
        self._consumer.assign([TopicPartition(t, p, 0) for t, p in self._task.partitions])
        while not self._enough():
            self._take(self._consumer.consume(500, timeout=0.1))
            self._report_status()
        self._history.close()
        self._consumer.close()

    def _take(self, messages: list[Message]) -> None:
        at, rows = now(), []
        for message in messages:
            if (error := message.error()) is None:
                rows.append(self._row(message, at))
            elif error.code() == KafkaError._PARTITION_EOF:
                self._ends[f"{message.topic()}/{message.partition()}"] = int(message.offset() or 0)
            elif error.code() == KafkaError._AUTO_OFFSET_RESET or error.fatal():
                raise KafkaException(error)
        self._history.write_all("reads", rows)

    def _row(self, message: Message, at: int) -> dict[str, Any]:
        headers = dict(message.headers() or ())
        record, attempt = (_text(headers.get(h)) for h in (RECORD_HEADER, ATTEMPT_HEADER))
        self._read += 1
        return {
            **self._common,
            "ordinal": self._read - 1,
            "topic": message.topic(),
            "partition": message.partition(),
            "offset": message.offset(),
            "record": record,
            "attempt": attempt,
            "at": at,
        }

    def _report_status(self) -> None:
        if time.monotonic() - self._status_at >= _STATUS_EVERY:
            self._status_at = time.monotonic()
            print(json.dumps({"read": self._read, "ends": self._ends}), flush=True)

    @staticmethod
    def _enough() -> bool:
        """Return whether it was asked to stop, or the harness is gone."""
        return bool(select.select([sys.stdin], [], [], 0)[0]) and (
            os.read(sys.stdin.fileno(), 4096) in (b"", b"enough\n")
        )


def _text(header: str | bytes | None) -> str | None:
    return header.decode(errors="replace") if isinstance(header, bytes) else header


def main() -> None:
    _Observing(ObserverTask.load(Path(sys.argv[1]))).read_all()


if __name__ == "__main__":
    main()
