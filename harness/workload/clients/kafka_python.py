"""Producer with kafka-python: `python -m onceproof.harness.workload.clients.kafka_python TASK`.

Outcomes arrive on the client's own thread. Its commit and abort have no timeout; the harness
detects one that never returns by the lack of progress.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import Any, Final

from kafka import KafkaProducer
from kafka.errors import KafkaError, KafkaTimeoutError

from onceproof.harness.kafka.connecting.connection import connection
from onceproof.harness.workload.clients.runtime import Call, SenderRuntime, load_runtime

_CLOSE_SECONDS: Final = 5
_FLUSH_SECONDS: Final = 0.1


class Sending:
    """Send the records of one task."""

    def __init__(self, runtime: SenderRuntime) -> None:
        self.runtime = runtime
        self.client = self._new_client()

    def send_all(self) -> None:
        runtime = self.runtime
        transactional = runtime.task.transactional_id is not None
        while not runtime.over:
            runtime.listen(0.005)
            if not transactional:
                for call in runtime.due():
                    self._send(call)
            elif transaction := runtime.due_transaction():
                self._send_transaction(runtime.calls(transaction), abort=transaction.abort)
            runtime.report()
        self._flush()
        runtime.close()

    def _new_client(self) -> Any:
        task = self.runtime.task
        transactional = {"transactional_id": task.transactional_id} if task.transactional_id else {}
        client = KafkaProducer(
            **task.client,
            **transactional,
            **connection(task.bootstrap).in_python(),
            bootstrap_servers=task.bootstrap.split(","),
            client_id=task.name,
        )
        if transactional:
            self._begin(client)
        return client

    def _begin(self, client: Any) -> None:
        """Initialize transactions, which also ends an open one."""
        while True:
            self.runtime.listen()
            try:
                client.init_transactions()
                return
            except KafkaTimeoutError:
                continue  # as the client's documentation says

    def _send(self, call: Call) -> None:
        try:
            future = self.client.send(
                call.record.topic, key=call.key, value=call.value, headers=call.headers
            )
        except KafkaError as error:
            self.runtime.refused(call.attempt, error, certain=True)  # it was never queued
            raise
        future.add_callback(partial(self._acknowledged, call.attempt))
        # It is unknown whether a failed batch was transmitted.
        future.add_errback(partial(self._refused, call.attempt))

    def _acknowledged(self, attempt: str, metadata: Any) -> None:
        offset = metadata.offset if metadata.offset >= 0 else None
        self.runtime.acknowledged(attempt, metadata.partition, offset)

    def _refused(self, attempt: str, error: BaseException) -> None:
        self.runtime.refused(attempt, repr(error), certain=False)

    def _flush(self) -> None:
        while self.runtime.waiting:
            self.runtime.listen()
            self.runtime.report()
            try:
                self.client.flush(timeout=_FLUSH_SECONDS)
            except KafkaTimeoutError:
                continue

    # Transactions.

    def _send_transaction(self, calls: list[Call], *, abort: bool) -> None:
        runtime = self.runtime
        try:
            self.client.begin_transaction()
            self._send_each(calls)
            self._flush()
            if abort:
                self.client.abort_transaction()
                runtime.ended("aborted")
                return
            runtime.commit_called()
            self.client.commit_transaction()
            runtime.ended("committed")
        except (KafkaError, ValueError) as error:
            self._give_up(error)

    def _send_each(self, calls: list[Call]) -> None:
        for place, call in enumerate(calls):
            try:
                self._send(call)
            except KafkaError as error:
                for unsent in calls[place + 1 :]:
                    self.runtime.refused(unsent.attempt, error, certain=True)
                raise

    def _give_up(self, error: Exception) -> None:
        """Abort; if that fails, the outcome is unknown, and a new client continues."""
        try:
            self.client.abort_transaction()
        except (KafkaError, ValueError) as abort_error:
            self.runtime.ended("info", f"{error!r}; then {abort_error!r}")
        else:
            self._flush()
            self.runtime.ended("aborted", repr(error))
            return
        self.client.close(timeout=_CLOSE_SECONDS)
        self.runtime.abandoned(repr(error))
        self.runtime.new_session()
        self.client = self._new_client()


def main() -> None:
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s %(message)s")
    Sending(load_runtime()).send_all()


if __name__ == "__main__":
    main()
