"""Small user pipelines in several forms; each reports its steps on standard output.

- `rows` counts in PostgreSQL, with a row and its own offset in one transaction.
- `copy` and `transactional` copy a topic correctly; `hanging` does as well, but its first life
  soon hangs forever.
- `careless` commits offsets of records that its client may not have sent.
- `fenceless` commits offsets without a group member.
- `booked` writes one row for each record, guarded by a unique key; `locking` also locks its
  partitions during the write; `impatient` also repeats statements that take two seconds.
- `twice` writes a row whenever it reads a record.
- `rewound` and `locked` are in `own_async_copies`.
"""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import psycopg
from confluent_kafka import Consumer, KafkaException, Producer

over = threading.Event()


def say(*words: object) -> None:
    print(*words, flush=True)


def rows(database: str, ledger: str) -> None:
    while not over.is_set():
        try:
            with psycopg.connect(database) as connection:
                _count(connection, ledger)
        except psycopg.Error as error:
            say("failed", error.sqlstate or "connection", type(error).__name__)


def _count(connection: psycopg.Connection[Any], ledger: str) -> None:
    connection.execute(f"CREATE TABLE IF NOT EXISTS {ledger} (id text)")
    connection.execute(f"CREATE TABLE IF NOT EXISTS {ledger}_at (one int PRIMARY KEY, next bigint)")
    connection.execute(f"INSERT INTO {ledger}_at VALUES (1, 0) ON CONFLICT DO NOTHING")
    connection.commit()
    (n,) = connection.execute(f"SELECT next FROM {ledger}_at").fetchall()[0]
    connection.commit()
    say("begins", n)
    while not over.is_set():
        say("tries", n)
        connection.execute(f"INSERT INTO {ledger} VALUES (%s)", [f"r-{n}"])
        connection.execute(f"UPDATE {ledger}_at SET next = %s", [n + 1])
        connection.commit()
        say("did", n)
        n += 1
        time.sleep(0.05)


def reader(bootstrap: str, source: str, group: str, session: int) -> Consumer:
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "session.timeout.ms": session,
            "heartbeat.interval.ms": 500,
        }
    )
    consumer.subscribe(
        [source],
        on_assign=lambda _, parts: say("assigned", *sorted(p.partition for p in parts)),
        on_revoke=lambda _, parts: say("revoked", *sorted(p.partition for p in parts)),
        on_lost=lambda _, parts: say("lost", *sorted(p.partition for p in parts)),
    )
    return consumer


def copy(
    bootstrap: str,
    source: str,
    out: str,
    group: str,
    session: int,
    *,
    careless: bool = False,
    hangs: bool = False,
) -> None:
    rounds = 0
    consumer = reader(bootstrap, source, group, session)
    producer = Producer({"bootstrap.servers": bootstrap, "message.max.bytes": 4_000_000})
    while not over.is_set():
        messages = [m for m in consumer.consume(100, 0.1) if not m.error()]
        for message in messages:
            producer.produce(out, message.value(), message.key())
        producer.poll(0) if careless else producer.flush()
        try:
            consumer.commit(asynchronous=False)
        except KafkaException as error:
            if error.args[0].name() != "_NO_OFFSET":
                say("refused", error.args[0].name())
        rounds += bool(messages)
        if hangs and rounds == 3:
            hang()
    producer.flush()
    consumer.close()
    say("flushed")


def transactional(
    bootstrap: str, source: str, out: str, group: str, session: int, *, fenceless: bool = False
) -> None:
    while not over.is_set():
        consumer = reader(bootstrap, source, group, session)
        unknown = consumer.consumer_group_metadata()  # of no group member: it has not joined
        producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "transactional.id": f"{group}-{os.getpid()}",  # each life has its own
                "transaction.timeout.ms": 300_000,
            }
        )
        try:
            producer.init_transactions(60)
            while not over.is_set():
                messages = [m for m in consumer.consume(100, 0.1) if not m.error()]
                if not messages:
                    continue
                # Before the transaction: a member that was paused in it joins again by itself, and
                # with its new generation the offsets of what it had read would be accepted.
                positions = consumer.position(consumer.assignment())
                member = unknown if fenceless else consumer.consumer_group_metadata()
                producer.begin_transaction()
                for message in messages:
                    producer.produce(out, message.value(), message.key())
                producer.send_offsets_to_transaction(positions, member, 10)
                producer.commit_transaction(10)
        except KafkaException as error:
            say("failed", error.args[0].name())
        finally:
            # librdkafka may hang here; the harness restarts the program.
            faulthandler.dump_traceback_later(10, exit=True)
            consumer.close()
            del producer
            faulthandler.cancel_dump_traceback_later()


def book(
    bootstrap: str, source: str, out: str, group: str, database: str, session: int, *, form: str
) -> None:
    key = "" if form == "twice" else "PRIMARY KEY"
    options = "-c statement_timeout=2000" if form == "impatient" else ""
    with psycopg.connect(database, options=options) as connection:
        connection.execute("SELECT pg_advisory_xact_lock(1)")  # two workers may start at once
        connection.execute(f"CREATE TABLE IF NOT EXISTS {out} (id text {key})")
        connection.execute(f"CREATE TABLE IF NOT EXISTS {out}_parts (part int PRIMARY KEY)")
        connection.execute(
            f"INSERT INTO {out}_parts SELECT generate_series(0, 2) ON CONFLICT DO NOTHING"
        )
        connection.commit()
        consumer = reader(bootstrap, source, group, session)
        while not over.is_set():
            messages = [m for m in consumer.consume(100, 0.1) if not m.error()]
            if not messages:
                continue
            if form == "locking":
                parts = [[m.partition() for m in messages]]
                lock = f"SELECT FROM {out}_parts WHERE part = ANY (%s) ORDER BY part FOR UPDATE"
                connection.execute(lock, parts)
            ids = [[json.loads(m.value() or b"")["id"]] for m in messages]
            insert = f"INSERT INTO {out} VALUES (%s) ON CONFLICT DO NOTHING"
            while True:
                try:
                    connection.cursor().executemany(insert, ids)
                    connection.commit()
                    break
                except psycopg.errors.QueryCanceled:
                    connection.rollback()
            try:
                consumer.commit(asynchronous=False)
            except KafkaException as error:
                say("refused", error.args[0].name())
        consumer.close()


def hang() -> None:
    """Hang forever, like a client call that waits for a response that never arrives."""
    say("hangs")
    while True:
        signal.pause()


def main() -> None:
    form, session, *rest = sys.argv[1:]
    signal.signal(signal.SIGTERM, lambda *_: over.set())
    if form == "rows":
        rows(*rest)
    elif form in ("booked", "locking", "impatient", "twice"):
        book(*rest, int(session), form=form)
    elif form in ("rewound", "locked"):
        import own_async_copies  # no other form waits for its client to be imported

        own_async_copies.copy(
            *rest, int(session), locked=form == "locked", say=say, over=over.is_set
        )
    elif form == "hanging":
        marker = Path(f"{rest[3]}.begun")
        first = not marker.exists()
        marker.touch()
        copy(*rest, int(session), hangs=first)
    elif form in ("transactional", "fenceless"):
        transactional(*rest, int(session), fenceless=form == "fenceless")
    else:
        copy(*rest, int(session), careless=form == "careless")


if __name__ == "__main__":
    main()
