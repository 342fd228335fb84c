"""Reads orders into a table, and says in Kafka how far it has read. It has a bug."""

import json
import sys

import psycopg
from confluent_kafka import Consumer

bootstrap, topic, where = sys.argv[1:]
database = psycopg.connect(where)
database.execute("CREATE TABLE IF NOT EXISTS shipped (order_id text, item text)")
database.commit()
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
while True:
    messages = [m for m in consumer.consume(200, timeout=0.2) if m.error() is None]
    if not messages:
        continue
    for message in messages:
        order = json.loads(message.value())
        database.execute("INSERT INTO shipped VALUES (%(order_id)s, %(item)s)", order)
    database.commit()
    consumer.commit(asynchronous=False)
