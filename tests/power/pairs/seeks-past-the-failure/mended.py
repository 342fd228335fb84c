"""Writes orders into a table; a batch that fails is tried again."""

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
while True:
    batches = consumer.poll(500)
    records = [r for batch in batches.values() for r in batch if r.value is not None]
    orders = [json.loads(r.value) for r in records]
    rows = [(order["order_id"], order["item"]) for order in orders]
    try:
        with database.transaction():
            sql = "INSERT INTO shipped VALUES (%s, %s) ON CONFLICT DO NOTHING"
            database.cursor().executemany(sql, rows)
    except psycopg.Error as error:
        print("again:", error, file=sys.stderr, flush=True)
        database.close()
        database = connect()
        for place, batch in batches.items():
            consumer.seek(place, batch[0].offset)
        continue
    if batches:
        consumer.commit()
