"""Writes orders into a table, each once."""

import json
import sys
import time

import psycopg
from kafka import KafkaConsumer

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
consumer = KafkaConsumer(
    source,
    bootstrap_servers=bootstrap.split(","),
    group_id="ship",
    auto_offset_reset="earliest",
    enable_auto_commit=False,
    isolation_level="read_committed",
    session_timeout_ms=8000,
    max_poll_records=200,
)
seen = set()
while True:
    batches = consumer.poll(500)
    records = [r for batch in batches.values() for r in batch if r.value is not None]
    orders = [json.loads(r.value) for r in records]
    rows = [(o["order_id"], o["item"]) for o in orders if o["order_id"] not in seen]
    with database.transaction():
        sql = "INSERT INTO shipped VALUES (%s, %s) ON CONFLICT DO NOTHING"
        database.cursor().executemany(sql, rows)
    seen.update(order_id for order_id, _ in rows)
    if batches:
        consumer.commit()
