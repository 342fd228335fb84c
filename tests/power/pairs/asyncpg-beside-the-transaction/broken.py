"""Writes orders into a table; rows and positions are in one transaction."""

import asyncio
import json
import sys

import asyncpg
from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener
from psycopg.conninfo import conninfo_to_dict

bootstrap, source, where = sys.argv[1:]
MOVE = (
    "INSERT INTO positions VALUES ($1, $2) ON CONFLICT (part) "
    "DO UPDATE SET next = excluded.next WHERE positions.next = $3"
)


class Resume(ConsumerRebalanceListener):
    """Go on where the database says."""

    def __init__(self, consumer, pool):
        self.consumer, self.pool, self.stands = consumer, pool, {}
        self.lock = asyncio.Lock()  # this is called while a batch is being written

    async def on_partitions_revoked(self, revoked):
        """What is in hand then is not written if somebody else has written it."""

    async def on_partitions_assigned(self, assigned):
        """Seek."""
        async with self.lock:
            stored = dict(await self.pool.fetch("SELECT part, next FROM positions"))
            for place in assigned:
                self.stands[place.partition] = stored.get(place.partition, 0)
                self.consumer.seek(place, self.stands[place.partition])


async def write(batches, stands, pool):
    """Write what comes behind where partitions stand."""
    rows, ends = [], {}
    for place, records in batches.items():
        new = [record for record in records if record.offset >= stands[place.partition]]
        values = [json.loads(record.value) for record in new if record.value is not None]
        rows += [(value["order_id"], value["item"]) for value in values]
        if new:
            ends[place.partition] = new[-1].offset + 1
    async with pool.acquire() as database, database.transaction():
        await pool.executemany("INSERT INTO shipped VALUES ($1, $2)", rows)
        for part, end in ends.items():
            if await database.execute(MOVE, part, end, stands[part]) == "INSERT 0 0":
                sys.exit(f"somebody else went on with partition {part}")
    stands |= ends


async def main():
    """Read, write, move on."""
    said = conninfo_to_dict(where)
    login = {"host": said["host"], "port": said["port"], "user": said["user"]}
    login |= {"password": said.get("password"), "database": said["dbname"]}
    pool = await asyncpg.create_pool(**login, min_size=2, max_size=4)
    await pool.execute("CREATE TABLE IF NOT EXISTS shipped (order_id text, item text)")
    await pool.execute(
        "CREATE TABLE IF NOT EXISTS positions (part int PRIMARY KEY, next bigint NOT NULL)"
    )
    consumer = AIOKafkaConsumer(
        bootstrap_servers=bootstrap,
        group_id="ship",
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        isolation_level="read_committed",
        session_timeout_ms=8000,
        metadata_max_age_ms=5000,
    )
    resume = Resume(consumer, pool)
    consumer.subscribe([source], listener=resume)
    await consumer.start()
    while True:
        batches = await consumer.getmany(timeout_ms=500, max_records=200)
        async with resume.lock:
            await write(batches, resume.stands, pool)


asyncio.run(main())
