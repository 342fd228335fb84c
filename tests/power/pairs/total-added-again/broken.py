"""Adds the amount of each order to its customer's total; its group has the positions."""

import json
import sys
import time

import psycopg
from confluent_kafka import Consumer, TopicPartition

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
consumer.subscribe([source])
while True:
    messages = [m for m in consumer.consume(200, 0.5) if m.error() is None]
    if not messages:
        continue
    orders = [json.loads(m.value()) for m in messages if m.value() is not None]
    rows = [(order["customer"], order["amount_cents"]) for order in orders]
    with database.transaction():
        database.cursor().executemany(
            "INSERT INTO totals VALUES (%s, %s) "
            "ON CONFLICT (customer) DO UPDATE SET cents = totals.cents + excluded.cents",
            rows,
        )
    ends = {(m.topic(), m.partition()): m.offset() + 1 for m in messages}
    places = [TopicPartition(*place, end) for place, end in ends.items()]
    consumer.commit(offsets=places, asynchronous=False)
