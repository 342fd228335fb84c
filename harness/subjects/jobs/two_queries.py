"""Two PySpark queries in one driver: the same payments into two tables of PostgreSQL.

Each query has its own checkpoint, and each micro-batch is one database transaction that also
records what it is. With `--guard query-and-batch-id` that is query and batch; with
`--guard batch-id` it is the number of the batch alone, of which each query has one.
"""

import argparse
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import psycopg
from pyspark.sql import DataFrame, SparkSession
from session import ProgressLog, payments

PACES = {"ledger": "3 seconds", "archive": "1 second"}
COLUMNS = (
    "record text, account text, amount_cents bigint, fee_cents bigint, source_partition int, "
    "source_offset bigint, query_id text, batch_id bigint"
)
DONE = "CREATE TABLE IF NOT EXISTS batches_done (seq bigserial, name text PRIMARY KEY, {})"
NAMES = {"query-and-batch-id": "{query_id} {batch_id}", "batch-id": "{batch_id}"}


def main() -> None:
    """Run both queries until they are stopped."""
    options = argparse.ArgumentParser()
    options.add_argument("--bootstrap", required=True)
    options.add_argument("--topic", required=True)
    options.add_argument("--database", required=True)
    options.add_argument("--checkpoints", nargs=2, help="one of each query", required=True)
    options.add_argument("--progress", required=True)
    options.add_argument("--guard", choices=list(NAMES), required=True)
    given = options.parse_args()

    with psycopg.connect(given.database) as connection:
        for table in PACES:
            connection.execute(f"CREATE TABLE IF NOT EXISTS {table} (seq bigserial, {COLUMNS})")
        connection.execute(DONE.format("query_id text, batch_id bigint"))

    spark = SparkSession.builder.getOrCreate()
    spark.streams.addListener(ProgressLog(given.progress))
    # One has its first batch before the other, which is quicker then, begins.
    for (table, pace), checkpoint in zip(PACES.items(), given.checkpoints, strict=True):
        query = (
            payments(spark, bootstrap=given.bootstrap, topic=given.topic)
            .writeStream.foreachBatch(into(table, given.database, NAMES[given.guard]))
            .trigger(processingTime=pace)
            .option("checkpointLocation", checkpoint)
            .start()
        )
        while not any(Path(checkpoint, "commits").glob("[0-9]*")):
            query.awaitTermination(0.2)

    def stop(*_: object) -> None:
        for query in spark.streams.active:
            query.stop()
        sys.exit(0)

    signal.signal(signal.SIGTERM, stop)
    spark.streams.awaitAnyTermination()


def into(table: str, database: str, name: str) -> Callable[[DataFrame, int], None]:
    """What writes a micro-batch into a table, unless it is there."""

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
