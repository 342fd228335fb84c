"""PySpark foreachBatch into PostgreSQL.

With `--guard query-and-batch-id` each micro-batch is one database transaction that also records
(query id, batch id); a batch that is there already is skipped. With `--guard none` it is not.
"""

import argparse

import psycopg
from hook import Hook
from pyspark.sql import DataFrame, SparkSession
from session import ProgressLog, payments, run_until_stopped

LEDGER = """
CREATE TABLE IF NOT EXISTS ledger (
    seq bigserial, record text, account text, amount_cents bigint, fee_cents bigint,
    source_partition int, source_offset bigint, query_id text, batch_id bigint);
CREATE TABLE IF NOT EXISTS batches_done (
    seq bigserial, query_id text, batch_id bigint, PRIMARY KEY (query_id, batch_id))
"""
COLUMNS = (
    "record, account, amount_cents, fee_cents, source_partition, source_offset, query_id, batch_id"
)
COPY = f"COPY ledger ({COLUMNS}) FROM STDIN"
INSERT = f"INSERT INTO ledger ({COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s, %s, %s)"


def main() -> None:
    """Run the query until it is stopped."""
    options = argparse.ArgumentParser()
    options.add_argument("--bootstrap", required=True)
    options.add_argument("--topic", required=True)
    options.add_argument("--database", required=True)
    options.add_argument("--checkpoint", required=True)
    options.add_argument("--progress", required=True)
    options.add_argument("--guard", choices=["query-and-batch-id", "none"], required=True)
    options.add_argument("--isolation", help="of the source; Spark's default if not given")
    options.add_argument(
        "--trigger", choices=["available-now"], help="Spark's default if not given"
    )
    given = options.parse_args()

    with psycopg.connect(given.database) as connection:
        connection.execute(LEDGER)

    spark = SparkSession.builder.getOrCreate()
    spark.streams.addListener(ProgressLog(given.progress))

    hook = Hook(given.checkpoint)

    def write(batch: DataFrame, batch_id: int) -> None:
        query_id = batch.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId")
        rows = batch.collect()
        with psycopg.connect(given.database) as connection, connection.cursor() as cursor:
            if given.guard == "query-and-batch-id":
                cursor.execute(
                    "INSERT INTO batches_done (query_id, batch_id) VALUES (%s, %s) "
                    "ON CONFLICT DO NOTHING",
                    (query_id, batch_id),
                )
                if cursor.rowcount == 0:
                    return
            if hook.wanted() is not None:
                # Each is answered by itself: what is copied stays with the client for a while.
                for row in hook.rows(batch_id, rows):
                    cursor.execute(INSERT, (*row, query_id, batch_id))
                return
            with cursor.copy(COPY) as copy:
                for row in rows:
                    copy.write_row((*row, query_id, batch_id))

    writer = (
        payments(spark, bootstrap=given.bootstrap, topic=given.topic, isolation=given.isolation)
        .writeStream.foreachBatch(write)
        .option("checkpointLocation", given.checkpoint)
    )
    if given.trigger == "available-now":
        writer = writer.trigger(availableNow=True)
    run_until_stopped(writer.start())


if __name__ == "__main__":
    main()
