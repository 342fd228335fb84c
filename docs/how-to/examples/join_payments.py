"""Joins orders and payments in memory; rows and positions are in one transaction. It has a bug."""

import json
import sys

import psycopg
from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

bootstrap, orders, payments, where = sys.argv[1:]
database = psycopg.connect(where)
database.execute("CREATE TABLE IF NOT EXISTS paid (order_id text, payment_id text, item text)")
database.execute(
    "CREATE TABLE IF NOT EXISTS positions (topic text, part int, next bigint, "
    "PRIMARY KEY (topic, part))"
)
database.commit()
consumer = Consumer(
    {
        "bootstrap.servers": bootstrap,
        "group.id": "join",
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "session.timeout.ms": 10_000,
        "isolation.level": "read_committed",
    }
)
stands: dict[tuple[str, int], int | None] = {}
waiting: dict[str, dict[str, str]] = {}
"""Records whose match has not come yet."""


def resume(consumer: Consumer, partitions: list[TopicPartition]) -> None:
    """Go on where the database says, not where the group does."""
    for each in partitions:
        at = each.topic, each.partition
        sql = "SELECT next FROM positions WHERE topic = %s AND part = %s"
        row = database.execute(sql, at).fetchone()
        stands[at] = row[0] if row else None
        each.offset = row[0] if row else OFFSET_BEGINNING
    database.commit()
    consumer.assign(partitions)


def move(at: tuple[str, int], next_: int) -> None:
    """Move a position; whoever finds it elsewhere was replaced, and must not write."""
    if stands[at] is None:
        sql = "INSERT INTO positions VALUES (%(topic)s, %(part)s, %(next)s) ON CONFLICT DO NOTHING"
    else:
        sql = (
            "UPDATE positions SET next = %(next)s "
            "WHERE topic = %(topic)s AND part = %(part)s AND next = %(stands)s"
        )
    values = {"topic": at[0], "part": at[1], "next": next_, "stands": stands[at]}
    if database.execute(sql, values).rowcount != 1:
        sys.exit(f"somebody else went on with {at}: start again from what is stored")
    stands[at] = next_


def join(topic: str, record: dict[str, str]) -> None:
    """Write a row if the match of a record is there; else keep the record for it."""
    if match := waiting.pop(record["order_id"], None):
        row = {**record, **match}
        database.execute("INSERT INTO paid VALUES (%(order_id)s, %(payment_id)s, %(item)s)", row)
    else:
        waiting[record["order_id"]] = record


consumer.subscribe([orders, payments], on_assign=resume)
while True:
    messages = [m for m in consumer.consume(200, timeout=0.2) if m.error() is None]
    if not messages:
        continue
    for message in messages:
        join(message.topic(), json.loads(message.value()))
    for at, next_ in {(m.topic(), m.partition()): m.offset() + 1 for m in messages}.items():
        move(at, next_)
    database.commit()
