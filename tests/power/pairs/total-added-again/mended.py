"""Adds the amount of each order to its customer's total; positions are in the same transaction."""

import json
import sys
import time

import psycopg
from confluent_kafka import Consumer

bootstrap, source, where = sys.argv[1:]


def connect():
    """Wait for the database, however long it is away."""
    while True:
        try:
            return psycopg.connect(where)
        except psycopg.OperationalError as error:
            print(error, file=sys.stderr, flush=True)
            time.sleep(1)


database = connect()
database.execute("CREATE TABLE IF NOT EXISTS totals (customer text PRIMARY KEY, cents bigint)")
database.execute(
    "CREATE TABLE IF NOT EXISTS positions (part int PRIMARY KEY, next bigint NOT NULL)"
)
database.commit()
consumer = Consumer(
    {
        "bootstrap.servers": bootstrap,
        "group.id": "totals",
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
    rows = [(order["customer"], order["amount_cents"]) for order in orders]
    with database.transaction():
        database.cursor().executemany(
            "INSERT INTO totals VALUES (%s, %s) "
            "ON CONFLICT (customer) DO UPDATE SET cents = totals.cents + excluded.cents",
            rows,
        )
        for part, end in ends.items():
            moved = database.execute(
                "INSERT INTO positions VALUES (%(part)s, %(next)s) ON CONFLICT (part) "
                "DO UPDATE SET next = %(next)s WHERE positions.next = %(stands)s",
                {"part": part, "next": end, "stands": stands[part]},
            )
            if moved.rowcount != 1:
                sys.exit(f"somebody else went on with partition {part}")
    stands.update(ends)
