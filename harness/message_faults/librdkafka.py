"""Execute one transaction with librdkafka, in a separate process.

Run as `python -m onceproof.harness.message_faults.librdkafka`.

It handles errors as librdkafka's documentation says: it repeats a call after a retriable error,
aborts and begins again if the transaction must be aborted, and ends at a fatal error. Timeouts are
short, so that a fault shows within seconds.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Final

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from onceproof.harness.clock import now
from onceproof.harness.kafka.connecting.connection import connection
from onceproof.harness.message_faults.clients import ClientResult, Task

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


class Transaction:
    """One transaction, until it is committed or has failed."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._deadline = time.monotonic() + task.seconds
        self._producer = Producer({
            **SETTINGS,
            **connection(task.bootstrap).librdkafka(),
            "transactional.id": task.transactional_id,
        })  # fmt: skip
        # Used only for its group metadata; it never joins the group.
        self._member = Consumer({
            "log_level": 0, **connection(task.bootstrap).librdkafka(), "group.id": task.group
        })  # fmt: skip
        self._again = 0
        self._aborted = 0

    def run(self) -> ClientResult:
        error = None
        try:
            self._call(self._producer.init_transactions)
            while not self._once():
                self._aborted += 1
        except KafkaException as ended:
            error = ended.args[0].name()
        return ClientResult(
            committed=error is None, at=now(), aborted=self._aborted, again=self._again, error=error
        )

    def _once(self) -> bool:
        """Try the transaction; False if it had to be aborted."""
        task = self._task
        try:
            self._producer.begin_transaction()
            for value in task.values:
                self._producer.produce(task.topic, value=value.encode(), partition=0)
            self._producer.flush(self._left)
            offset = TopicPartition(task.input, 0, task.offset)
            group = self._member.consumer_group_metadata()
            self._call(
                lambda seconds: self._producer.send_offsets_to_transaction([offset], group, seconds)
            )
            self._call(self._producer.commit_transaction)
        except KafkaException as error:
            if not error.args[0].txn_requires_abort():
                raise
            self._call(self._producer.abort_transaction)
            return False
        return True

    def _call(self, call: Callable[[float], object]) -> None:
        """Make a call, and repeat it after retriable errors until the deadline."""
        while True:
            try:
                call(self._left)
            except KafkaException as error:
                if not error.args[0].retriable() or time.monotonic() >= self._deadline:
                    raise
                self._again += 1
            else:
                return

    @property
    def _left(self) -> float:
        return max(1.0, self._deadline - time.monotonic())


def main() -> None:
    result = Transaction(Task(**json.loads(sys.stdin.readline()))).run()
    print(json.dumps(asdict(result)), flush=True)


if __name__ == "__main__":
    main()
