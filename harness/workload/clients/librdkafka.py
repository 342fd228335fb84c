"""Producer with confluent-kafka: `python -m onceproof.harness.workload.clients.librdkafka TASK`.

It handles transaction errors as the documentation says: it retries retriable errors, aborts
abortable ones, and replaces the client after a fatal one.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import partial
from typing import Final

from confluent_kafka import KafkaError, KafkaException, Message, Producer, libversion

from onceproof.harness.kafka.connecting.connection import connection
from onceproof.harness.tools.runtimes.settings import known_settings
from onceproof.harness.workload.clients.runtime import (
    Call,
    SenderRuntime,
    Transaction,
    load_runtime,
)

_NEVER_SENT: Final = frozenset({KafkaError._PURGE_QUEUE})
"""Errors after which the record is certainly not in the log: it never left the queue."""
_CALL_SECONDS: Final = 5.0
"""Timeout of a transactional call, after which it is retried."""


class Sending:
    """Send the records of one task."""

    def __init__(self, runtime: SenderRuntime) -> None:
        self.runtime = runtime
        self._resends = runtime.task.resend_seconds is not None
        self.client = self._new_client()

    def send_all(self) -> None:
        runtime = self.runtime
        transactional = runtime.task.transactional_id is not None
        if transactional:
            self._begin()
        while not runtime.over:
            runtime.listen(0.0 if runtime.rate else 0.01)
            self.client.poll(0)
            if transactional:
                transaction = runtime.due_transaction()
                if transaction:
                    self._send_transaction(transaction)
                else:
                    self.client.poll(runtime.until_due)
            elif block := runtime.due():
                for call in block:
                    self._produce(call)
                self.client.poll(0)
            else:
                self.client.poll(runtime.until_due)
            runtime.report()
        while runtime.waiting:
            self._wait()
        runtime.close()

    def _new_client(self) -> Producer:
        task = self.runtime.task
        return Producer(
            {
                **known_settings("librdkafka", libversion()[0], task.client),
                **connection(task.bootstrap).librdkafka(),
                "client.id": task.name,
                "stats_cb": self._on_statistics,
                **({"transactional.id": task.transactional_id} if task.transactional_id else {}),
            }
        )

    def _produce(self, call: Call) -> None:
        while True:
            try:
                self.client.produce(
                    call.record.topic,
                    key=call.key,
                    value=call.value,
                    headers=call.headers,
                    on_delivery=partial(self._on_delivery, call),
                )
                return
            except BufferError:
                # The client's queue is full (a partition has no leader): wait for space.
                self._wait()

    def _wait(self) -> None:
        self.client.poll(0.05)
        self.runtime.listen()
        self.runtime.report()

    def _on_delivery(self, call: Call, error: KafkaError | None, message: Message) -> None:
        """Record an outcome. If the client retries, a failed record may still be in the log."""
        if error is None:
            self.runtime.acknowledged(call.attempt, message.partition(), message.offset())
        elif self._resends and error.code() == KafkaError._MSG_TIMED_OUT:
            self._produce(call)  # a broken application: it retries by itself
        else:
            self.runtime.refused(call.attempt, error, certain=error.code() in _NEVER_SENT)

    def _on_statistics(self, text: str) -> None:
        for broker in json.loads(text)["brokers"].values():
            if (node := broker["nodeid"]) > 0:
                self.runtime.timeouts[node] = broker["req_timeouts"]

    # Transactions.

    def _begin(self) -> None:
        """Initialize transactions, which also ends an open one."""
        self._call(self.client.init_transactions)

    def _send_transaction(self, transaction: Transaction) -> None:
        runtime = self.runtime
        try:
            self.client.begin_transaction()
            self._produce_all(runtime.calls(transaction))
            while len(self.client):
                self._wait()
            if transaction.abort:
                self._call(self.client.abort_transaction)
                runtime.ended("aborted")
                return
            runtime.commit_called()
            self._call(self.client.commit_transaction)
            runtime.ended("committed")
        except KafkaException as error:
            self._give_up(error.args[0])

    def _produce_all(self, calls: list[Call]) -> None:
        for place, call in enumerate(calls):
            try:
                self._produce(call)
            except KafkaException as error:
                for unsent in calls[place:]:
                    self.runtime.refused(unsent.attempt, error.args[0], certain=True)
                raise

    def _give_up(self, error: KafkaError) -> None:
        """Abort if the error requires it; otherwise the outcome is unknown: replace the client."""
        if error.txn_requires_abort():
            try:
                self._call(self.client.abort_transaction)
            except KafkaException as abort_error:
                error = abort_error.args[0]
            else:
                self.runtime.ended("aborted", error)
                return
        self.runtime.ended("info", error)
        self.client.purge()
        deadline = time.monotonic() + _CALL_SECONDS
        while len(self.client) and time.monotonic() < deadline:
            try:
                self._wait()
            except KafkaException:  # a fatal error is raised again
                self.runtime.listen(0.05)
        self.runtime.abandoned(error)
        self.runtime.new_session()
        self.client = self._new_client()
        self._begin()

    def _call(self, call: Callable[[float], object]) -> None:
        while True:
            self.runtime.listen()
            self.runtime.report()
            began = time.monotonic()
            try:
                call(_CALL_SECONDS)
                return
            except KafkaException as error:
                if not error.args[0].retriable():
                    raise
                self.client.poll(max(0.0, 0.05 - (time.monotonic() - began)))


def main() -> None:
    Sending(load_runtime()).send_all()


if __name__ == "__main__":
    main()
