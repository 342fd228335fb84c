"""Send what is new in a table of orders, by its ids; how far it is stands in another table."""

import sys
import time

import psycopg
from confluent_kafka import KafkaException, Producer

bootstrap, where, events = sys.argv[1:]


def connect():
    """Wait for the database, however long it is away."""
    while True:
        try:
            return psycopg.connect(where, autocommit=True)
        except psycopg.OperationalError as error:
            print(error, file=sys.stderr, flush=True)
            time.sleep(1)


database = connect()
database.execute("CREATE TABLE IF NOT EXISTS relayed (only_one int PRIMARY KEY, id bigint)")
database.execute("INSERT INTO relayed VALUES (1, 0) ON CONFLICT DO NOTHING")
producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True})


def delivered(error, message):
    """Nothing is written down behind an event that was not delivered."""
    if error is not None:
        raise KafkaException(error)


while True:
    rows = database.execute(
        "SELECT id, body FROM orders WHERE id > (SELECT id FROM relayed) ORDER BY id LIMIT 500"
    ).fetchall()
    if not rows:
        time.sleep(0.2)
        continue
    for _, body in rows:
        producer.produce(events, value=body, on_delivery=delivered)
    database.execute("UPDATE relayed SET id = %s", [rows[-1][0]])
    producer.poll(0)
