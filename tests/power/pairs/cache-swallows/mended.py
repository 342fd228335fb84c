"""Writes orders into a table; what fails is tried again, what it has seen lately is passed over."""

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
database.execute("CREATE TABLE IF NOT EXISTS shipped (order_id text, item text)")
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
seen = set()
consumer.subscribe([source])
while True:
    messages = [m for m in consumer.consume(200, 0.5) if m.error() is None]
    if not messages:
        continue
    orders = [json.loads(m.value()) for m in messages if m.value() is not None]
    new = {o["order_id"]: o["item"] for o in orders if o["order_id"] not in seen}
    try:
        with database.transaction():
            sql = "INSERT INTO shipped VALUES (%s, %s)"
            database.cursor().executemany(sql, list(new.items()))
    except psycopg.Error as error:
        print("again:", error, file=sys.stderr, flush=True)
        database.close()
        database = connect()
        for m in reversed(messages):
            consumer.seek(TopicPartition(m.topic(), m.partition(), m.offset()))
        continue
    seen.update(new)
    ends = {(m.topic(), m.partition()): m.offset() + 1 for m in messages}
    places = [TopicPartition(*place, end) for place, end in ends.items()]
    consumer.commit(offsets=places, asynchronous=False)
