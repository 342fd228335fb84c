"""An outbox: events are rows first, and every ten seconds those that are new are sent."""

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
database.execute(
    "CREATE TABLE IF NOT EXISTS outbox "
    "(order_id text PRIMARY KEY, body text, sent boolean DEFAULT false)"
)
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


def relay():
    """Send what was not sent."""
    with database.transaction():
        rows = database.execute("SELECT order_id, body FROM outbox WHERE NOT sent").fetchall()
        sql = "UPDATE outbox SET sent = true WHERE order_id = ANY(%s)"
        database.execute(sql, [[order_id for order_id, _ in rows]])
    for _, body in rows:
        producer.produce(events, value=body, on_delivery=delivered)
    producer.flush()


consumer.subscribe([source])
relayed = time.monotonic()
while True:
    if time.monotonic() - relayed > 10:
        relay()
        relayed = time.monotonic()
    messages = [m for m in consumer.consume(200, 0.5) if m.error() is None]
    if not messages:
        continue
    orders = [json.loads(m.value()) for m in messages if m.value() is not None]
    rows = [(order["order_id"], json.dumps(order)) for order in orders]
    with database.transaction():
        sql = "INSERT INTO outbox VALUES (%s, %s) ON CONFLICT DO NOTHING"
        database.cursor().executemany(sql, rows)
    consumer.commit(asynchronous=False)
