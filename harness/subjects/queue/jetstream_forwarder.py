"""A forwarder by NATS JetStream.

It pulls one message at a time, publishes its effect, and acknowledges the message when the server
has acknowledged the effect; then it waits until the server has confirmed that (a double ack). After
any error it connects again, and the server delivers unacknowledged messages again.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from nats.errors import Error
from nats.errors import TimeoutError as NoAnswer

from onceproof.harness.clock import now
from onceproof.harness.history.writer import HistoryWriter
from onceproof.harness.nats.client import SECONDS, connect
from onceproof.harness.nats.configuration import DURABLE
from onceproof.harness.queues.connections import consumers_of
from onceproof.harness.subjects.group.effect import effect_of
from onceproof.harness.subjects.group.life import say
from onceproof.harness.subjects.queue.moments import (
    AFTER_COMMIT,
    BEFORE_COMMIT,
    BEFORE_WRITE,
    Moments,
)
from onceproof.harness.subjects.queue.task import ForwarderTask

_RECORD, _KEY = "onceproof_record", "onceproof_key"


class Forwarder:
    """One life of a forwarder, with one connection after another."""

    def __init__(self, task: ForwarderTask) -> None:
        self._task = task
        self._moments = Moments(Path(task.work), task.name)
        self._history = HistoryWriter(Path(task.history), task.name)

    async def run(self) -> None:
        while True:
            try:
                await self._connected()
            except (Error, OSError, TimeoutError) as error:
                say(f"reconnecting: {type(error).__name__}: {error}")
                await asyncio.sleep(0.1)  # between attempts, as any client waits

    async def _connected(self) -> None:
        name = f"{consumers_of(self._task.source)}{self._task.name}"
        client = await connect(self._task.broker, name)
        try:
            stream = client.jetstream(timeout=SECONDS)
            source = await stream.pull_subscribe_bind(DURABLE, self._task.source)
            while True:
                try:
                    (message,) = await source.fetch(1, timeout=SECONDS)
                except NoAnswer:
                    if client.is_closed:
                        raise
                    continue  # there is no message
                await self._forward(stream, message)
        finally:
            await client.close()

    async def _forward(self, stream: Any, message: Any) -> None:
        record = message.headers[_RECORD]
        self._record("delivered", record)
        await self._reached(BEFORE_WRITE, record)
        headers = {name: message.headers[name] for name in (_RECORD, _KEY)}
        if self._task.duplicate_ids:
            headers["Nats-Msg-Id"] = str(message.metadata.sequence.stream)
        effect = effect_of(message.data)
        taken = await stream.publish(self._task.sink, effect, headers=headers)
        self._record("written", record)
        if taken.duplicate:
            self._record("dropped", record)
        await self._reached(BEFORE_COMMIT, record)
        if self._task.acknowledge == "client":
            await message.ack_sync(timeout=SECONDS)
        await self._reached(AFTER_COMMIT, record)

    async def _reached(self, moment: str, record: str) -> None:
        # Not on the loop's thread: the client answers pings while it is held.
        await asyncio.to_thread(self._moments.reached, moment, record)

    def _record(self, kind: str, record: str) -> None:
        self._history.write_all(kind, [{"record": record, "by": self._task.name, "at": now()}])


def main() -> None:
    asyncio.run(Forwarder(ForwarderTask.load(Path(sys.argv[-1]))).run())
