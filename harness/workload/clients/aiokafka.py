"""Producer with aiokafka: `python -m onceproof.harness.workload.clients.aiokafka TASK`.

One asyncio task sends, another takes orders and reports progress. If a call never returns, the
harness therefore sees that the producer makes no progress.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import Any, Final

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError

from onceproof.harness.kafka.connecting.connection import connection
from onceproof.harness.workload.clients.runtime import Call, SenderRuntime, load_runtime

_TICK: Final = 0.01
_STOP_SECONDS: Final = 5
_ERRORS: Final = (KafkaError, AssertionError)
"""Errors of the client; `AssertionError` if a fenced producer is told to abort."""


class Sending:
    """Send the records of one task."""

    def __init__(self, runtime: SenderRuntime) -> None:
        self.runtime = runtime
        self.client: Any = None
        self._failed: KafkaError | None = None

    async def send_all(self) -> None:
        ticking = asyncio.create_task(self._tick())
        sending = asyncio.create_task(self._send_all())
        # The first failure ends the program, including the end of the harness.
        await asyncio.wait((ticking, sending), return_when=asyncio.FIRST_COMPLETED)
        (ticking if ticking.done() else sending).result()
        ticking.cancel()
        self.runtime.close()

    async def _tick(self) -> None:
        while True:
            self.runtime.listen()
            self.runtime.report()
            await asyncio.sleep(_TICK)

    async def _send_all(self) -> None:
        runtime = self.runtime
        await self._new_client()
        while not runtime.over:
            if runtime.task.transactional_id is None:
                for call in runtime.due():
                    await self._send(call)
            elif transaction := runtime.due_transaction():
                await self._send_transaction(runtime.calls(transaction), abort=transaction.abort)
            await asyncio.sleep(_TICK / 2)
        await self._outcomes()
        await self._stop()

    async def _stop(self) -> None:
        await asyncio.wait((asyncio.ensure_future(self.client.stop()),), timeout=_STOP_SECONDS)

    async def _new_client(self) -> None:
        """Start a client; with a transactional id this also ends an open transaction."""
        task = self.runtime.task
        transactional = {"transactional_id": task.transactional_id} if task.transactional_id else {}
        self.client = AIOKafkaProducer(
            **task.client,
            **transactional,
            **connection(task.bootstrap).in_python(),
            bootstrap_servers=task.bootstrap,
            client_id=task.name,
        )
        await self.client.start()

    async def _send(self, call: Call) -> None:
        try:
            future = await self.client.send(
                call.record.topic, key=call.key, value=call.value, headers=call.headers
            )
        except KafkaError as error:
            self.runtime.refused(call.attempt, repr(error), certain=True)  # it was never queued
            self._failed = error
        else:
            future.add_done_callback(partial(self._on_outcome, call.attempt))

    def _on_outcome(self, attempt: str, future: asyncio.Future[Any]) -> None:
        if future.cancelled() or future.exception() is not None:
            # It is unknown whether a failed batch was transmitted.
            error = None if future.cancelled() else future.exception()
            self.runtime.refused(attempt, repr(error or "cancelled"), certain=False)
            self._failed = error if isinstance(error, KafkaError) else KafkaError(repr(error))
            return
        metadata = future.result()
        offset = metadata.offset if metadata.offset >= 0 else None
        self.runtime.acknowledged(attempt, metadata.partition, offset)

    async def _outcomes(self) -> None:
        while self.runtime.waiting:
            await asyncio.sleep(_TICK)

    # Transactions.

    async def _send_transaction(self, calls: list[Call], *, abort: bool) -> None:
        runtime = self.runtime
        try:
            self._failed = None
            await self.client.begin_transaction()
            for call in calls:
                await self._send(call)
            await self._outcomes()
            if self._failed is not None:
                raise self._failed  # this client would commit in spite of it
            if abort:
                await self.client.abort_transaction()
                runtime.ended("aborted")
                return
            runtime.commit_called()
            await self.client.commit_transaction()
            runtime.ended("committed")
        except _ERRORS as error:
            await self._give_up(error)

    async def _give_up(self, error: Exception) -> None:
        """Abort; if that fails, the outcome is unknown, and a new client continues."""
        try:
            await self.client.abort_transaction()
        except _ERRORS as abort_error:
            self.runtime.ended("info", f"{error!r}; then {abort_error!r}")
        else:
            await self._outcomes()
            self.runtime.ended("aborted", repr(error))
            return
        await self._stop()
        self.runtime.abandoned(repr(error))
        self.runtime.new_session()
        await self._new_client()


def main() -> None:
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s %(message)s")
    asyncio.run(Sending(load_runtime()).send_all())


if __name__ == "__main__":
    main()
