"""One of two processes that take turns by a lease in the database: one works, one stands by."""

import json
import sys
import time

import psycopg
from confluent_kafka import Consumer, TopicPartition

LEASE = """
CREATE TABLE IF NOT EXISTS shipped (order_id text, item text);
CREATE TABLE IF NOT EXISTS positions (part int PRIMARY KEY, next bigint NOT NULL);
CREATE TABLE IF NOT EXISTS lease (one int PRIMARY KEY, term bigint, until timestamptz);
INSERT INTO lease VALUES (1, 0, now()) ON CONFLICT DO NOTHING;
"""

bootstrap, source, where, _ = sys.argv[1:]


def connect():
    """Wait for the database, however long it is away."""
    while True:
        try:
            return psycopg.connect(where)
        except psycopg.OperationalError as error:
            print(error, file=sys.stderr, flush=True)
            time.sleep(1)


database = connect()
with database.transaction():
    database.execute("SELECT pg_advisory_xact_lock(1)")
    database.execute(LEASE)
consumer = Consumer(
    {
        "bootstrap.servers": bootstrap,
        "group.id": "none",
        "enable.auto.commit": False,
        "isolation.level": "read_committed",
    }
)


def take():
    """The number of our term, once nobody else has the lease."""
    while True:
        with database.transaction():
            taken = database.execute(
                "UPDATE lease SET term = term + 1, until = now() + interval '5 seconds' "
                "WHERE until < now() RETURNING term"
            ).fetchone()
        if taken:
            return taken[0]
        time.sleep(0.2)


def partitions():
    """The partitions of the topic as it is now."""
    return sorted(consumer.list_topics(source, 10).topics[source].partitions)


def stored():
    """Where the last one who worked has left off."""
    with database.transaction():
        return dict(database.execute("SELECT part, next FROM positions").fetchall())


partitions()
while True:
    term, reads = take(), stored()
    consumer.assign([TopicPartition(source, part, reads.get(part, 0)) for part in partitions()])
    ours = True
    while ours:
        messages = [m for m in consumer.consume(100, 0.5) if m.error() is None]
        orders = [json.loads(m.value()) for m in messages if m.value() is not None]
        rows = [(order["order_id"], order["item"]) for order in orders]
        with database.transaction():
            kept = database.execute(
                "UPDATE lease SET until = now() + interval '5 seconds' WHERE term = %s", [term]
            )
            ours = kept.rowcount == 1
            if ours:
                database.cursor().executemany("INSERT INTO shipped VALUES (%s, %s)", rows)
                for part, end in {m.partition(): m.offset() + 1 for m in messages}.items():
                    database.execute(
                        "INSERT INTO positions VALUES (%s, %s) "
                        "ON CONFLICT (part) DO UPDATE SET next = excluded.next",
                        (part, end),
                    )
