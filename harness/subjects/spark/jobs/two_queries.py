"""Two PySpark queries in one driver: the same payments into two tables of PostgreSQL.

Each micro-batch is one database transaction that records the batch: by query id and batch id, or
with `--guard batch-id` by the batch id alone, which both queries use.
"""

import argparse
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import psycopg
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery
from session import ProgressLog, payments

PACES = {"ledger": "3 seconds", "archive": "1 second"}
PER_BATCH = {"ledger": None, "archive": "1000"}
"""Records per batch: the archive has more batches, so that it reaches ids the ledger has not."""
COLUMNS = (
    "record text, account text, amount_cents bigint, fee_cents bigint, source_partition int, "
    "source_offset bigint, query_id text, batch_id bigint"
)
DONE = "CREATE TABLE IF NOT EXISTS batches_done (seq bigserial, name text PRIMARY KEY, {})"
NAMES = {"query-and-batch-id": "{query_id} {batch_id}", "batch-id": "{batch_id}"}


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--bootstrap", required=True)
    options.add_argument("--topic", required=True)
    options.add_argument("--database", required=True)
    options.add_argument("--checkpoints", nargs=2, help="folder of each query", required=True)
    options.add_argument("--progress", required=True)
    options.add_argument("--guard", choices=list(NAMES), required=True)
    given = options.parse_args()

    with psycopg.connect(given.database) as connection:
        for table in PACES:
            connection.execute(f"CREATE TABLE IF NOT EXISTS {table} (seq bigserial, {COLUMNS})")
        connection.execute(DONE.format("query_id text, batch_id bigint"))

    spark = SparkSession.builder.getOrCreate()
    spark.streams.addListener(ProgressLog(given.progress))
    checkpoints = dict(zip(PACES, given.checkpoints, strict=True))

    def begin(table: str) -> StreamingQuery:
        query: StreamingQuery = (
            payments(
                spark,
                bootstrap=given.bootstrap,
                topic=given.topic,
                per_batch=PER_BATCH[table],
            )
            .writeStream.foreachBatch(into(table, given.database, NAMES[given.guard]))
            .trigger(processingTime=PACES[table])
            .option("checkpointLocation", checkpoints[table])
            .start()
        )
        return query

    # One query has its first batch before the other starts, and is stopped until that one has
    # written: so each is ahead of the other once, whatever their speed.
    ledger = begin("ledger")
    while not any(Path(checkpoints["ledger"], "commits").glob("[0-9]*")):
        ledger.awaitTermination(1)
    if empty("archive", given.database):
        ledger.stop()
        archive = begin("archive")
        while empty("archive", given.database):
            archive.awaitTermination(1)
        begin("ledger")
        spark.streams.resetTerminated()  # so that the stopped query does not end the wait
    else:
        begin("archive")

    def stop(*_: object) -> None:
        for query in spark.streams.active:
            query.stop()
        sys.exit(0)

    signal.signal(signal.SIGTERM, stop)
    while not spark.streams.awaitAnyTermination(1):  # as in `run_until_stopped`
        pass


def empty(table: str, database: str) -> bool:
    with psycopg.connect(database) as connection:
        return connection.execute(f"SELECT FROM {table} LIMIT 1").fetchone() is None


def into(table: str, database: str, name: str) -> Callable[[DataFrame, int], None]:
    """Return a foreachBatch function that writes to a table, unless the batch is recorded."""

    def write(batch: DataFrame, batch_id: int) -> None:
        query_id = batch.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId")
        rows = batch.collect()
        with psycopg.connect(database) as connection, connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO batches_done (name, query_id, batch_id) VALUES (%s, %s, %s) "
                "ON CONFLICT DO NOTHING",
                (name.format(query_id=query_id, batch_id=batch_id), query_id, batch_id),
            )
            if cursor.rowcount == 0:
                return
            with cursor.copy(
                f"COPY {table} (record, account, amount_cents, fee_cents, source_partition, "
                "source_offset, query_id, batch_id) FROM STDIN"
            ) as copy:
                for row in rows:
                    copy.write_row((*row, query_id, batch_id))

    return write


if __name__ == "__main__":
    main()
