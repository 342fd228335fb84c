"""One of two workers that keep the last order of each customer."""

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
database.execute(
    "CREATE TABLE IF NOT EXISTS latest "
    "(customer text PRIMARY KEY, order_id text, part int, at bigint)"
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
consumer.subscribe([source])
while True:
    messages = [m for m in consumer.consume(200, 0.5) if m.error() is None]
    if not messages:
        continue
    with database.transaction():
        for m in messages:
            if m.value() is None:
                continue
            order = json.loads(m.value())
            database.execute(
                "INSERT INTO latest VALUES (%s, %s, %s, %s) ON CONFLICT (customer) DO UPDATE SET "
                "order_id = excluded.order_id, part = excluded.part, at = excluded.at",
                [order["customer"], order["order_id"], m.partition(), m.offset()],
            )
    consumer.commit(asynchronous=False)
