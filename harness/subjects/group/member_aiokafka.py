"""A member of aiokafka: `python -m onceproof.harness.subjects.group.member_aiokafka FILE`.

Its group changes in the background, at any time, and its transactions do not
know the group's generation. So partitions are given up only between two transactions; against a
member that was thought dead there is nothing that an application could do. Nearly every error of a
transaction is fatal to the producer, so each ends this life, and the next takes over its id.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from typing import Any, Final

from aiokafka import (
    AIOKafkaConsumer,
    AIOKafkaProducer,
    ConsumerRebalanceListener,
    TopicPartition,
)
from aiokafka.errors import KafkaError

from onceproof.harness.kafka.connecting.connection import connection
from onceproof.harness.subjects.group.clients import AIOKAFKA
from onceproof.harness.subjects.group.effect import effect_of
from onceproof.harness.subjects.group.life import Over, identity, live, say
from onceproof.harness.subjects.group.task import HUNG_SECONDS, MemberTask
from onceproof.harness.subjects.group.watchdog import Watchdog

_POLL_MS: Final = 200
_LOOK_EVERY: Final = 0.02
_SEEN_SECONDS: Final = 2.0
"""How long positions may take to be seen; less than the group waits for anybody."""
ERRORS: Final = (KafkaError, AssertionError)
"""What its calls raise; the second where a call does not fit the state that it is in."""

Read = dict[TopicPartition, list[Any]]
"""Records as they were read, by partition."""


class Member(ConsumerRebalanceListener):  # type: ignore[misc]  # it says nothing of its types
    """One life of one member; inside an event loop."""

    def __init__(self, task: MemberTask) -> None:
        self.task = task
        common = {
            **connection(task.bootstrap).in_python(),
            "bootstrap_servers": task.bootstrap,
            "client_id": task.name,
        }
        self._consumer = AIOKafkaConsumer(
            **AIOKAFKA.consumer, **common, group_id=task.group, max_poll_records=task.batch
        )
        self._producer = AIOKafkaProducer(
            **AIOKAFKA.producer, **common, transactional_id=f"{task.group}-{task.name}"
        )
        self._watchdog = Watchdog(HUNG_SECONDS)
        self._at_work = asyncio.Lock()
        self._committed: dict[TopicPartition, int] = {}
        """Positions of its transactions since it was given its partitions."""

    async def run(self) -> None:
        """Read and process until it is ended from outside.

        Raises:
            Over: it cannot go on.
        """
        with self._watchdog.over("start of the producer"):
            await self._producer.start()
        self._consumer.subscribe([self.task.topic], listener=self)
        await self._consumer.start()
        while True:
            # Not within the lock: it hands out nothing while the group changes, and waits for that.
            read = await self._consumer.getmany(timeout_ms=_POLL_MS)
            if read:
                async with self._at_work:
                    await self._process(read)

    async def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        """Give them up when the transaction under way is over, and its positions can be seen.

        A commit returns before that, and whoever is next would not wait for it.
        """
        async with self._at_work:  # nothing is handed out again before new ones are assigned
            try:
                async with asyncio.timeout(_SEEN_SECONDS):
                    await self._see_committed()
            except TimeoutError:
                say(f"others have committed since, or nobody says: {self._committed} is not there")
            self._committed.clear()

    async def _see_committed(self) -> None:
        for place, end in self._committed.items():
            while (await self._consumer.committed(place) or 0) < end:
                await asyncio.sleep(_LOOK_EVERY)

    async def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        """Nothing is to be done."""

    async def _process(self, read: Read) -> None:
        """Effects and positions in one transaction."""
        ends = {place: records[-1].offset + 1 for place, records in read.items()}
        try:
            await self._producer.begin_transaction()
            with self._watchdog.over("send"):
                await self._send(read)
            with self._watchdog.over("send_offsets_to_transaction"):
                await self._producer.send_offsets_to_transaction(ends, self.task.group)
            with self._watchdog.over("commit_transaction"):
                await self._producer.commit_transaction()
            self._committed.update(ends)
        except ERRORS as error:
            raise Over(f"transaction: {error!r}") from error

    async def _send(self, read: Read) -> None:
        outcomes = [
            await self._producer.send(
                self.task.sink,
                key=record.key,
                value=effect_of(record.value),
                headers=identity(record.headers),
            )
            for records in read.values()
            for record in records
        ]
        if self.task.outcomes:
            await asyncio.gather(*outcomes)  # its commit does not fail where one of these has


async def _live(task: MemberTask) -> None:
    try:
        await Member(task).run()
    except (Over, *ERRORS) as reason:
        say(f"over: {reason}")
        # At once: an event loop ends when its tasks do, and one of these may be what is wrong.
        os._exit(1)


if __name__ == "__main__":
    live(MemberTask, lambda task: asyncio.run(_live(task)))
