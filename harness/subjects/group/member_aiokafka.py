"""A member that uses aiokafka: `python -m onceproof.harness.subjects.group.member_aiokafka FILE`.

aiokafka rebalances in the background, and its transactions do not carry the group's generation. So
partitions are revoked only between two transactions; an application cannot protect itself against a
member that was wrongly considered dead. Nearly every transaction error is fatal to the producer and
ends this life; the next one takes over the transactional id.
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
from onceproof.harness.subjects.group.life import LifeEnded, identity, live, say
from onceproof.harness.subjects.group.task import HUNG_SECONDS, MemberTask
from onceproof.harness.subjects.group.watchdog import Watchdog

_POLL_MS: Final = 200
_LOOK_EVERY: Final = 0.02
_SEEN_SECONDS: Final = 2.0
"""Limit for committed offsets to become visible; shorter than the rebalance timeout."""
ERRORS: Final = (KafkaError, AssertionError)
"""Raised by the client; AssertionError if a call does not fit its state."""

Read = dict[TopicPartition, list[Any]]


class Member(ConsumerRebalanceListener):  # type: ignore[misc]  # the class is untyped
    """One life of one member; used inside an event loop."""

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
            **AIOKAFKA.producer, **common, transactional_id=task.own_transactional_id
        )
        self._watchdog = Watchdog(HUNG_SECONDS)
        self._at_work = asyncio.Lock()
        self._committed: dict[TopicPartition, int] = {}
        """Offsets of its transactions since its last assignment."""

    async def run(self) -> None:
        """Read and process until the process is ended.

        Raises:
            LifeEnded: it cannot continue.
        """
        with self._watchdog.over("producer start"):
            await self._producer.start()
        self._consumer.subscribe([self.task.topic], listener=self)
        await self._consumer.start()
        while True:
            # Outside the lock, which a rebalance takes: getmany waits for the rebalance.
            read = await self._consumer.getmany(timeout_ms=_POLL_MS)
            if read:
                async with self._at_work:
                    await self._process(read)

    async def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        """Wait for the open transaction, and until its offsets are visible.

        The commit call returns earlier than that, and the partitions' next owner would not wait.
        """
        async with self._at_work:  # no record is returned again before the next assignment
            try:
                async with asyncio.timeout(_SEEN_SECONDS):
                    await self._wait_committed()
            except TimeoutError:
                say(
                    f"waited {_SEEN_SECONDS:g} s for committed offsets {self._committed}: they are "
                    "not visible, or others have committed since"
                )
            self._committed.clear()

    async def _wait_committed(self) -> None:
        for place, end in self._committed.items():
            while (await self._consumer.committed(place) or 0) < end:
                await asyncio.sleep(_LOOK_EVERY)

    async def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        """Do nothing."""

    async def _process(self, read: Read) -> None:
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
            raise LifeEnded(f"transaction: {error!r}") from error

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
            await asyncio.gather(*outcomes)  # the commit does not fail if a send has failed


async def _live(task: MemberTask) -> None:
    try:
        await Member(task).run()
    except (LifeEnded, *ERRORS) as reason:
        say(f"over: {reason}")
        # Immediately: the event loop ends only after its tasks, and one of these may be stuck.
        os._exit(1)


if __name__ == "__main__":
    live(MemberTask, lambda task: asyncio.run(_live(task)))
