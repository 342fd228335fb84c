"""A DBOS application that writes payments and balances to PostgreSQL: `dbos_ledger.py TASK`.

Each message starts a workflow of one step. The step is a transaction of a DBOS datasource, which
records its result together with the rows. The broken twin has a plain step: DBOS records its result
afterwards, so a step that wrote and died runs again.
"""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from typing import Any

import sqlalchemy as sa  # type: ignore[import-not-found]
from dbos import (  # type: ignore[import-not-found]
    DBOS,
    KafkaMessage,
    SQLAlchemyDatasource,
)

ROW = sa.text(
    "INSERT INTO ledger (record, account, amount_cents, fee_cents, source_partition, "
    "source_offset) VALUES (:record, :account, :amount, :fee, :partition, :offset)"
)
BALANCE = sa.text(
    "INSERT INTO balances (account, balance, payments) VALUES (:account, :amount, 1) "
    "ON CONFLICT (account) DO UPDATE SET balance = balances.balance + excluded.balance, "
    "payments = balances.payments + 1"
)


QUEUE = "payments"
WORKERS = 4
"""Workflows that an executor runs at a time."""
SESSIONS = 8
"""Sessions of the database for DBOS's own tables."""
POOL = {"pool_size": WORKERS, "max_overflow": 0}


def values(message: Any) -> dict[str, Any]:
    """Return the values of a payment's row; its fee is 2.9 %, rounded down, and 30 cents.

    It is code of the pipeline on trial; harness/workload/payments.py has the expectation.
    """
    payment = json.loads(message.value)
    amount = payment["amount_cents"]
    return {
        "record": payment["record"],
        "account": payment["account"],
        "amount": amount,
        "fee": amount * 29 // 1000 + 30,
        "partition": message.partition,
        "offset": message.offset,
    }


def main() -> None:
    """Run workflows until the process is ended."""
    task = json.loads(Path(sys.argv[1]).read_text())
    name, url = task["name"], task["url"]
    # The database shows by this name whose a transaction is.
    named = {"connect_args": {"application_name": name}, **POOL}
    DBOS(
        config={
            "name": task["group"],
            "system_database_url": url,
            # A new life recovers the workflows of the one before by this name.
            "executor_id": name,
            "sys_db_pool_size": SESSIONS,
            "application_version": "1",
            "log_level": "WARNING",
        }
    )
    books = SQLAlchemyDatasource.create(url, engine_kwargs=named)
    engine = sa.create_engine(url.replace("postgresql:", "postgresql+psycopg:", 1), **named)

    def write(connection: Any, row: dict[str, Any]) -> None:
        connection.execute(ROW, row)
        connection.execute(BALANCE, row)

    @books.transaction(isolation_level="READ COMMITTED")  # type: ignore[untyped-decorator]
    def in_transaction(row: dict[str, Any]) -> None:
        write(books.sql_session(), row)

    @DBOS.step()  # type: ignore[untyped-decorator]
    def in_step(row: dict[str, Any]) -> None:
        with engine.begin() as connection:
            write(connection, row)

    step = in_transaction if task["transactional"] else in_step

    @DBOS.kafka_consumer(task["settings"], [task["topic"]], queue_name=QUEUE)  # type: ignore[untyped-decorator]
    @DBOS.workflow()  # type: ignore[untyped-decorator]
    def booked(message: KafkaMessage) -> None:
        step(values(message))

    DBOS.launch()
    DBOS.register_queue(QUEUE, worker_concurrency=WORKERS, polling_interval_sec=0.1)
    threading.Event().wait()


if __name__ == "__main__":
    main()
