"""A user's program: orders into a SQLite table, then offsets into Kafka.

An order that is already present is left unchanged or, in mode `plain`, inserted again.
"""

import json
import sqlite3
import sys

from confluent_kafka import Consumer

bootstrap, topic, file, mode = sys.argv[1:]
plain = mode == "plain"
database = sqlite3.connect(file)
unique = "" if plain else "PRIMARY KEY"
database.execute(f"CREATE TABLE IF NOT EXISTS orders (order_id TEXT {unique})")
write = f"INSERT {'' if plain else 'OR IGNORE'} INTO orders VALUES (:order_id)"
consumer = Consumer(
    {
        "bootstrap.servers": bootstrap,
        "group.id": "to-a-file",
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "session.timeout.ms": 10_000,
    }
)
consumer.subscribe([topic])
while True:
    messages = [m for m in consumer.consume(200, timeout=0.2) if m.error() is None]
    if messages:
        database.executemany(write, [json.loads(m.value()) for m in messages])
        database.commit()
        consumer.commit(asynchronous=False)
