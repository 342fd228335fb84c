"""Reads orders into a table; rows and positions are in one transaction of the database."""

import json
import sys

import psycopg
from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

bootstrap, topic, where = sys.argv[1:]
database = psycopg.connect(where)
database.execute("CREATE TABLE IF NOT EXISTS shipped (order_id text, item text)")
database.execute("CREATE TABLE IF NOT EXISTS positions (part int PRIMARY KEY, next bigint)")
database.commit()
consumer = Consumer(
    {
        "bootstrap.servers": bootstrap,
        "group.id": "to-a-table",
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "session.timeout.ms": 10_000,
        "isolation.level": "read_committed",
    }
)
stands: dict[int, int | None] = {}


def resume(consumer: Consumer, partitions: list[TopicPartition]) -> None:
    """Go on where the database says, not where the group does."""
    for each in partitions:
        found = database.execute("SELECT next FROM positions WHERE part = %s", [each.partition])
        row = found.fetchone()
        stands[each.partition] = row[0] if row else None
        each.offset = row[0] if row else OFFSET_BEGINNING
    database.commit()
    consumer.assign(partitions)


def move(part: int, next_: int) -> None:
    """Move a position; whoever finds it elsewhere was replaced, and must not write."""
    if stands[part] is None:
        sql = "INSERT INTO positions VALUES (%(part)s, %(next)s) ON CONFLICT DO NOTHING"
    else:
        sql = "UPDATE positions SET next = %(next)s WHERE part = %(part)s AND next = %(stands)s"
    moved = database.execute(sql, {"part": part, "next": next_, "stands": stands[part]})
    if moved.rowcount != 1:
        sys.exit(f"somebody else went on with partition {part}: start again from what is stored")
    stands[part] = next_


consumer.subscribe([topic], on_assign=resume)
while True:
    messages = [m for m in consumer.consume(200, timeout=0.2) if m.error() is None]
    if not messages:
        continue
    for message in messages:
        order = json.loads(message.value())
        database.execute("INSERT INTO shipped VALUES (%(order_id)s, %(item)s)", order)
    for part, next_ in {m.partition(): m.offset() + 1 for m in messages}.items():
        move(part, next_)
    database.commit()
    consumer.commit(asynchronous=False)  # for who watches the lag; nothing resumes there
