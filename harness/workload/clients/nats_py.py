"""Producer with nats-py: it sends a message again until JetStream has acknowledged it.

Each message is acknowledged before the next one is sent.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any, Final

from nats.errors import Error

from onceproof.harness.nats.client import SECONDS, connect
from onceproof.harness.queues.connections import sender
from onceproof.harness.workload.clients.runtime import Call, SenderRuntime, load_runtime

_PAUSE: Final = 0.1


class Sending:
    """Send the records of one task."""

    def __init__(self, runtime: SenderRuntime) -> None:
        self._runtime = runtime
        self._client: Any = None

    async def send_all(self) -> None:
        runtime = self._runtime
        while not runtime.over:
            runtime.listen()
            for call in runtime.due():
                await self._send(call)
                runtime.report()
            runtime.report()
            await asyncio.sleep(runtime.until_due)
        await self._close()
        runtime.close()

    async def _send(self, call: Call) -> None:
        while True:
            self._runtime.listen()
            try:
                acknowledged = await self._publish(call)
            except (Error, OSError, TimeoutError) as error:
                reason = f"{type(error).__name__}: {error}"
                print(f"resending {call.record.record}: {reason}", file=sys.stderr)
                await self._close()
                await asyncio.sleep(_PAUSE)
                continue
            self._runtime.acknowledged(call.attempt, 0, acknowledged.seq - 1)
            return

    async def _publish(self, call: Call) -> Any:
        task, record = self._runtime.task, call.record
        if self._client is None:
            self._client = await connect(task.bootstrap, sender(task.name))
        headers = {
            "onceproof_record": record.record,
            "onceproof_attempt": call.attempt,
            "onceproof_key": record.key,
        }
        if task.client["message_ids"]:
            headers["Nats-Msg-Id"] = record.record
        stream = self._client.jetstream(timeout=SECONDS)
        return await stream.publish(record.topic, call.value or b"", headers=headers)

    async def _close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()


def main() -> None:
    asyncio.run(Sending(load_runtime()).send_all())
