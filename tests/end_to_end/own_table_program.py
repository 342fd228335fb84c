"""A program as a user writes it: orders into a table of PostgreSQL, and then positions into Kafka.

How it writes is its last word:

    guarded  an order that is there already is left as it is
    plain    it is written once more: what was not committed in Kafka doubles
    latest   each customer's newest order, written over the one before
    stale    the same, with a cache that is saved now and then, and put back into the table when the
             program starts: what was newer than the cache is old again
"""

import json
import sys
from pathlib import Path

import psycopg
from confluent_kafka import Consumer

SAVED_EVERY = 4

bootstrap, topic, database, table, cache, mode = sys.argv[1:]
by_customer = mode in ("latest", "stale")
columns = "customer text PRIMARY KEY, order_id text" if by_customer else "order_id text"
unique = ", PRIMARY KEY (order_id)" if mode == "guarded" else ""
WRITE = {
    "guarded": f"INSERT INTO {table} VALUES (%(order_id)s) ON CONFLICT DO NOTHING",
    "plain": f"INSERT INTO {table} VALUES (%(order_id)s)",
    "latest": f"INSERT INTO {table} VALUES (%(customer)s, %(order_id)s) "
    "ON CONFLICT (customer) DO UPDATE SET order_id = excluded.order_id",
}
write = WRITE["latest" if by_customer else mode]
saved = Path(cache)
newest: dict[str, dict] = {}

connection = psycopg.connect(database)
connection.execute(f"CREATE TABLE IF NOT EXISTS {table} ({columns}{unique})")
if mode == "stale" and saved.exists():
    newest = json.loads(saved.read_text())
    connection.cursor().executemany(write, list(newest.values()))
connection.commit()

consumer = Consumer(
    {
        "bootstrap.servers": bootstrap,
        "group.id": "to-a-table",
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "session.timeout.ms": 10_000,
    }
)
consumer.subscribe([topic])
batches = 0
while True:
    messages = [m for m in consumer.consume(200, timeout=0.2) if m.error() is None]
    if not messages:
        continue
    orders = [json.loads(message.value()) for message in messages]
    connection.cursor().executemany(write, orders)
    connection.commit()
    newest |= {order["customer"]: order for order in orders}
    if mode == "stale" and batches % SAVED_EVERY == 0:
        half = saved.with_suffix(".new")
        half.write_text(json.dumps(newest))
        half.replace(saved)
    batches += 1
    consumer.commit(asynchronous=False)
