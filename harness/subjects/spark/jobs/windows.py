"""Sums of payments by account and minute, written to PostgreSQL by foreachBatch.

`--mode append` writes each window once, `--mode update` whenever it has changed. `--mode add` keeps
no state in Spark: it adds the micro-batch's sum to the window in the table. With `--guard
query-and-batch-id` a micro-batch that the table has is skipped.
"""

import argparse

import psycopg
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, count, window
from pyspark.sql.functions import sum as total
from session import ProgressLog, run_until_stopped, timed_payments

TABLES = """
CREATE TABLE IF NOT EXISTS windows (
    seq bigserial, window_start bigint, account text, total bigint, payments bigint,
    query_id text, batch_id bigint {key});
CREATE TABLE IF NOT EXISTS batches_done (
    seq bigserial, query_id text, batch_id bigint, PRIMARY KEY (query_id, batch_id))
"""
KEY = ", PRIMARY KEY (window_start, account)"
INSERT = """
INSERT INTO windows (window_start, account, total, payments, query_id, batch_id)
VALUES (%s, %s, %s, %s, %s, %s)
"""
UPSERT = f"""{INSERT}
ON CONFLICT (window_start, account) DO UPDATE
SET seq = excluded.seq, query_id = excluded.query_id, batch_id = excluded.batch_id,
"""
STATEMENTS = {
    "append": INSERT,
    "update": f"{UPSERT} total = excluded.total, payments = excluded.payments",
    "add": f"{UPSERT} total = windows.total + excluded.total, "
    "payments = windows.payments + excluded.payments",
}


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--bootstrap", required=True)
    options.add_argument("--topic", required=True)
    options.add_argument("--database", required=True)
    options.add_argument("--checkpoint", required=True)
    options.add_argument("--progress", required=True)
    options.add_argument("--mode", choices=list(STATEMENTS), required=True)
    options.add_argument("--guard", choices=["query-and-batch-id", "none"], required=True)
    options.add_argument("--watermark", help="allowed lateness, as in '30 seconds'", required=True)
    options.add_argument("--provider", help="class of the state store provider", required=True)
    options.add_argument("--per-batch", help="maximum records in a micro-batch", required=True)
    given = options.parse_args()

    with psycopg.connect(given.database) as connection:
        connection.execute(TABLES.format(key="" if given.mode == "append" else KEY))

    spark = SparkSession.builder.getOrCreate()
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", given.provider)
    spark.streams.addListener(ProgressLog(given.progress))

    def sums(payments: DataFrame) -> DataFrame:
        return (
            payments.groupBy(window("event_time", "1 minute"), "account")
            .agg(total("amount_cents").alias("total"), count("*").alias("payments"))
            .select(col("window.start").cast("long"), "account", "total", "payments")
        )

    def write(batch: DataFrame, batch_id: int) -> None:
        query_id = batch.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId")
        rows = (sums(batch) if given.mode == "add" else batch).collect()
        with psycopg.connect(given.database) as connection, connection.cursor() as cursor:
            if given.guard == "query-and-batch-id":
                cursor.execute(
                    "INSERT INTO batches_done (query_id, batch_id) VALUES (%s, %s) "
                    "ON CONFLICT DO NOTHING",
                    (query_id, batch_id),
                )
                if cursor.rowcount == 0:
                    return
            cursor.executemany(STATEMENTS[given.mode], [(*row, query_id, batch_id) for row in rows])

    payments = timed_payments(
        spark, bootstrap=given.bootstrap, topic=given.topic, per_batch=given.per_batch
    )
    if given.mode != "add":
        payments = sums(payments.withWatermark("event_time", given.watermark))
    query = (
        payments.writeStream.foreachBatch(write)
        .outputMode("update" if given.mode == "update" else "append")
        .option("checkpointLocation", given.checkpoint)
        .start()
    )
    run_until_stopped(query)


if __name__ == "__main__":
    main()
