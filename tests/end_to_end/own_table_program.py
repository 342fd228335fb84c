"""A user's program: orders into a PostgreSQL table, then offsets into Kafka.

The last argument is its mode:

    guarded  an order that is already present is left unchanged
    plain    orders are inserted again, so that uncommitted ones are duplicated
    latest   each customer's newest order replaces the previous one
    stale    like `latest`, with a cache that is saved periodically and written to the table at the
             start, which reverts newer values
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
        temporary = saved.with_suffix(".new")
        temporary.write_text(json.dumps(newest))
        temporary.replace(saved)
    batches += 1
    consumer.commit(asynchronous=False)
