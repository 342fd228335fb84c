"""Copies orders, each in a task of its own, then commits."""

import asyncio
import os
import sys
import traceback

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

bootstrap, source, sink = sys.argv[1:]


async def copy():
    """Copy for ever."""
    consumer = AIOKafkaConsumer(
        source,
        bootstrap_servers=bootstrap,
        group_id="copy",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        isolation_level="read_committed",
        session_timeout_ms=8000,
    )
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap, acks="all", enable_idempotence=True)
    await producer.start()
    await consumer.start()
    tasks = set()
    while True:
        batches = await consumer.getmany(timeout_ms=500, max_records=200)
        records = [r for batch in batches.values() for r in batch if r.value is not None]
        for r in records:
            task = asyncio.create_task(producer.send_and_wait(sink, key=r.key, value=r.value))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        await asyncio.gather(*tasks)
        if batches:
            await consumer.commit()


async def main():
    """Copy, and end at once when that fails."""
    try:
        await copy()
    except Exception:
        traceback.print_exc()
        os._exit(1)


asyncio.run(main())
