"""Writes a row and sends an event for each order."""

import json
import sys
import time

import psycopg
from confluent_kafka import Consumer, KafkaException, Producer

bootstrap, source, events, where = sys.argv[1:]


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
producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True})


def delivered(error, message):
    """Nothing is committed behind a record that was not delivered."""
    if error is not None:
        raise KafkaException(error)


consumer.subscribe([source])
while True:
    messages = [m for m in consumer.consume(200, 0.5) if m.error() is None]
    if not messages:
        continue
    orders = [json.loads(m.value()) for m in messages if m.value() is not None]
    rows = {order["order_id"]: order["item"] for order in orders}
    with database.transaction():
        found = database.execute(
            "INSERT INTO shipped SELECT * FROM unnest(%s::text[], %s::text[]) "
            "ON CONFLICT DO NOTHING RETURNING order_id",
            [list(rows), list(rows.values())],
        )
        new = len(found.fetchall())
    print(new, "new orders of", len(rows), flush=True)
    for order_id in rows:
        event = json.dumps({"order_id": order_id, "event": "shipped"})
        producer.produce(events, value=event, on_delivery=delivered)
    producer.flush()
    consumer.commit(asynchronous=False)
