"""Writes orders into a table, each once."""

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
database.execute(
    "CREATE TABLE IF NOT EXISTS shipped "
    "(order_id text, customer text, amount_cents int, UNIQUE (customer, amount_cents))"
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
    orders = [json.loads(m.value()) for m in messages if m.value() is not None]
    rows = [(order["order_id"], order["customer"], order["amount_cents"]) for order in orders]
    with database.transaction():
        sql = "INSERT INTO shipped VALUES (%s, %s, %s) ON CONFLICT DO NOTHING"
        database.cursor().executemany(sql, rows)
    consumer.commit(asynchronous=False)
