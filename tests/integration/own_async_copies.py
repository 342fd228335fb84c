"""A copy into PostgreSQL by aiokafka, whose client rebalances while its program writes.

Rows and offsets are in one transaction. When partitions are assigned, `rewound` seeks to the
stored offsets even during a write; `locked` waits for the end of the write and skips the records
that it has written.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import psycopg
from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, TopicPartition

_TABLES = """
CREATE TABLE IF NOT EXISTS {out} (id text);
CREATE TABLE IF NOT EXISTS {out}_at (part int PRIMARY KEY, next bigint)
"""
_MOVE = (
    "INSERT INTO {out}_at VALUES (%s, %s) ON CONFLICT (part) "
    "DO UPDATE SET next = excluded.next WHERE {out}_at.next = %s"
)


class Copy(ConsumerRebalanceListener):  # type: ignore[misc]
    """Reads, writes, and keeps the next offset of each partition."""

    def __init__(self, out: str, database: str, *, locked: bool, say: Callable[..., None]) -> None:
        self._out, self._database, self._say = out, database, say
        self._next_offsets: dict[int, int] = {}
        self._locked = locked
        self._lock = asyncio.Lock() if locked else contextlib.nullcontext()
        with psycopg.connect(database) as connection:
            connection.execute(_TABLES.format(out=out))

    async def run(self, consumer: Any, topic: str, over: Callable[[], bool]) -> None:
        self._consumer = consumer
        consumer.subscribe([topic], listener=self)
        await consumer.start()
        async with await psycopg.AsyncConnection.connect(self._database) as connection:
            while not over():
                read = await consumer.getmany(timeout_ms=100)
                async with self._lock:
                    await self._write(connection, read)
        await consumer.stop()

    async def on_partitions_revoked(self, revoked: Sequence[TopicPartition]) -> None:
        self._say("revoked", *sorted(each.partition for each in revoked))

    async def on_partitions_assigned(self, assigned: Sequence[TopicPartition]) -> None:
        async with (
            self._lock,
            await psycopg.AsyncConnection.connect(self._database) as connection,
        ):
            found = await connection.execute(f"SELECT part, next FROM {self._out}_at")
            stored = dict(await found.fetchall())
        for each in assigned:
            self._next_offsets[each.partition] = stored.get(each.partition, 0)
            self._consumer.seek(each, self._next_offsets[each.partition])
        self._say("assigned", *sorted(each.partition for each in assigned))

    async def _write(self, connection: Any, read: Mapping[TopicPartition, Sequence[Any]]) -> None:
        ends = {}
        for place, records in read.items():
            part = place.partition
            new = [r for r in records if not self._locked or r.offset >= self._next_offsets[part]]
            ids = [[json.loads(record.value)["id"]] for record in new]
            await connection.cursor().executemany(f"INSERT INTO {self._out} VALUES (%s)", ids)
            if new:
                ends[part] = new[-1].offset + 1
        for part, end in ends.items():
            move = (part, end, self._next_offsets[part])
            moved = await connection.execute(_MOVE.format(out=self._out), move)
            if moved.rowcount != 1:
                raise SystemExit(f"somebody else went on with partition {part}")
        await connection.commit()
        self._next_offsets |= ends


def copy(
    bootstrap: str,
    source: str,
    out: str,
    group: str,
    database: str,
    session: int,
    *,
    locked: bool,
    say: Callable[..., None],
    over: Callable[[], bool],
) -> None:
    async def work() -> None:
        consumer = AIOKafkaConsumer(
            bootstrap_servers=bootstrap,
            group_id=group,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            session_timeout_ms=min(session, 60_000),
        )
        await Copy(out, database, locked=locked, say=say).run(consumer, source, over)

    asyncio.run(work())
