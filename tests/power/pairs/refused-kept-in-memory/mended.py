"""Writes orders into a table, then commits how far it has read."""

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
database.execute("CREATE TABLE IF NOT EXISTS shipped (order_id text PRIMARY KEY, item text)")
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
refused = []
while True:
    messages = [m for m in consumer.consume(200, 0.5) if m.error() is None]
    orders = [json.loads(m.value()) for m in messages if m.value() is not None]
    rows = [*refused, *((order["order_id"], order["item"]) for order in orders)]
    if not rows:
        continue
    try:
        with database.transaction():
            sql = "INSERT INTO shipped VALUES (%s, %s) ON CONFLICT DO NOTHING"
            database.cursor().executemany(sql, rows)
        refused = []
    except psycopg.Error as error:
        print("again with the next ones:", error, file=sys.stderr, flush=True)
        refused = rows
        database = connect()
        continue
    consumer.commit(asynchronous=False)
