"""Account statements by transformWithStateInPandas: each payment with the balance after it.

foreachBatch writes them to PostgreSQL, and skips a micro-batch that the table has. Balances are in
Spark's state store, or with `--store FOLDER` in files, which are not rolled back.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import psycopg
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle
from session import ProgressLog, payments, run_until_stopped

STATEMENTS = """
CREATE TABLE IF NOT EXISTS ledger (
    seq bigserial, record text, account text, amount_cents bigint, fee_cents bigint,
    source_partition int, source_offset bigint, balance bigint, payments bigint,
    query_id text, batch_id bigint);
CREATE TABLE IF NOT EXISTS batches_done (
    seq bigserial, query_id text, batch_id bigint, PRIMARY KEY (query_id, batch_id))
"""
COPY = """
COPY ledger (record, account, amount_cents, fee_cents, source_partition, source_offset, balance,
             payments, query_id, batch_id) FROM STDIN
"""
ROW = """
    record STRING, account STRING, amount_cents BIGINT, fee_cents BIGINT, source_partition INT,
    source_offset BIGINT, balance BIGINT, payments BIGINT
"""


class SparkStore:
    """The current account's state in Spark's state store."""

    def __init__(self, handle: StatefulProcessorHandle) -> None:
        self._value = handle.getValueState("account", "balance BIGINT, payments BIGINT")

    def get(self, account: str) -> tuple[int, int]:
        found = self._value.get()
        return (int(found[0]), int(found[1])) if found else (0, 0)

    def put(self, account: str, balance: int, payments: int) -> None:
        self._value.update((balance, payments))


class HomeMadeStore:
    """One file per account, never rolled back."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)
        self._folder.mkdir(parents=True, exist_ok=True)

    def get(self, account: str) -> tuple[int, int]:
        try:
            balance, payments = json.loads((self._folder / account).read_text())
        except FileNotFoundError:
            return 0, 0
        return balance, payments

    def put(self, account: str, balance: int, payments: int) -> None:
        draft = self._folder / f".{account}.tmp"
        draft.write_text(json.dumps([balance, payments]))
        draft.rename(self._folder / account)


class Statements(StatefulProcessor):
    """Processes the payments of one account at a time."""

    def __init__(self, folder: str | None) -> None:
        self._folder = folder
        self._store: Any = None

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._store = SparkStore(handle) if self._folder is None else HomeMadeStore(self._folder)

    def handleInputRows(
        self, key: Any, rows: Iterator[pd.DataFrame], timers: Any
    ) -> Iterator[pd.DataFrame]:
        """Add balances to an account's payments, which are all from one partition, in its order."""
        (account,) = key
        balance, count = self._store.get(account)
        found = pd.concat(list(rows)).sort_values("source_offset")
        found["balance"] = balance + found["amount_cents"].cumsum()
        found["payments"] = range(count + 1, count + 1 + len(found))
        self._store.put(account, int(found["balance"].iloc[-1]), count + len(found))
        yield found

    def close(self) -> None:
        """Do nothing."""


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--bootstrap", required=True)
    options.add_argument("--topic", required=True)
    options.add_argument("--database", required=True)
    options.add_argument("--checkpoint", required=True)
    options.add_argument("--progress", required=True)
    options.add_argument("--provider", help="class of the state store provider", required=True)
    options.add_argument("--per-batch", help="maximum records in a micro-batch", required=True)
    options.add_argument("--store", help="folder of state files (default: Spark's state store)")
    given = options.parse_args()

    with psycopg.connect(given.database) as connection:
        connection.execute(STATEMENTS)

    spark = SparkSession.builder.getOrCreate()
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", given.provider)
    spark.streams.addListener(ProgressLog(given.progress))

    def write(batch: DataFrame, batch_id: int) -> None:
        query_id = batch.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId")
        rows = batch.collect()
        with psycopg.connect(given.database) as connection, connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO batches_done (query_id, batch_id) VALUES (%s, %s) "
                "ON CONFLICT DO NOTHING",
                (query_id, batch_id),
            )
            if cursor.rowcount == 0:
                return
            with cursor.copy(COPY) as copy:
                for row in rows:
                    copy.write_row((*row, query_id, batch_id))

    query = (
        payments(spark, bootstrap=given.bootstrap, topic=given.topic, per_batch=given.per_batch)
        .groupBy("account")
        .transformWithStateInPandas(
            Statements(given.store), outputStructType=ROW, outputMode="Update", timeMode="None"
        )
        .writeStream.foreachBatch(write)
        .outputMode("update")
        .option("checkpointLocation", given.checkpoint)
        .start()
    )
    run_until_stopped(query)


if __name__ == "__main__":
    main()
