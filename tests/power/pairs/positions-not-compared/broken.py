"""One of two workers that write orders into a table, with positions in the same transaction."""

import json
import sys
import time

import psycopg
from confluent_kafka import Consumer

bootstrap, source, where, _ = sys.argv[1:]


def connect():
    """Wait for the database, however long it is away."""
    while True:
        try:
            return psycopg.connect(where)
        except psycopg.OperationalError as error:
            print(error, file=sys.stderr, flush=True)
            time.sleep(1)


database = connect()
database.execute("CREATE TABLE IF NOT EXISTS shipped (order_id text, item text)")
database.execute(
    "CREATE TABLE IF NOT EXISTS positions (part int PRIMARY KEY, next bigint NOT NULL)"
)
database.commit()
consumer = Consumer(
    {
        "bootstrap.servers": bootstrap,
        "group.id": "ship",
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "isolation.level": "read_committed",
        "session.timeout.ms": 8000,
    }
)
stands = {}


def resume(consumer, partitions):
    """Go on where the database says, not where the group does."""
    with database.transaction():
        stored = dict(database.execute("SELECT part, next FROM positions").fetchall())
    for place in partitions:
        place.offset = stands[place.partition] = stored.get(place.partition, 0)
    consumer.assign(partitions)


consumer.subscribe([source], on_assign=resume)
while True:
    messages = [m for m in consumer.consume(200, 0.5) if m.error() is None]
    if not messages:
        continue
    messages = [m for m in messages if m.offset() >= stands[m.partition()]]
    orders = [json.loads(m.value()) for m in messages if m.value() is not None]
    ends = {m.partition(): m.offset() + 1 for m in messages}
    rows = [(order["order_id"], order["item"]) for order in orders]
    with database.transaction():
        database.cursor().executemany("INSERT INTO shipped VALUES (%s, %s)", rows)
        for part, end in ends.items():
            database.execute(
                "INSERT INTO positions VALUES (%(part)s, %(next)s) ON CONFLICT (part) "
                "DO UPDATE SET next = %(next)s",
                {"part": part, "next": end},
            )
    stands.update(ends)
