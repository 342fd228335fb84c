"""Writes orders into a table, by four threads."""

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor

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
pool = ThreadPoolExecutor(4)


def write(orders):
    """Write some orders, over a connection of its own."""
    rows = [(order["order_id"], order["item"]) for order in orders]
    with psycopg.connect(where) as connection:
        sql = "INSERT INTO shipped VALUES (%s, %s) ON CONFLICT DO NOTHING"
        connection.cursor().executemany(sql, rows)


consumer.subscribe([source])
while True:
    messages = [m for m in consumer.consume(200, 0.5) if m.error() is None]
    if not messages:
        continue
    orders = [json.loads(m.value()) for m in messages if m.value() is not None]
    for start in range(0, len(orders), 50):
        pool.submit(write, orders[start : start + 50])
    consumer.commit(asynchronous=False)
