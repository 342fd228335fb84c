"""Payments joined with their refunds: two streams, and a row per match in PostgreSQL.

With `--guard query-and-batch-id` a micro-batch that the table has is skipped.
"""

import argparse

import psycopg
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, expr
from session import ProgressLog, run_until_stopped, timed_payments

MATCHES = """
CREATE TABLE IF NOT EXISTS matches (
    seq bigserial, record text, account text, amount_cents bigint, refund text,
    refund_cents bigint, query_id text, batch_id bigint);
CREATE TABLE IF NOT EXISTS batches_done (
    seq bigserial, query_id text, batch_id bigint, PRIMARY KEY (query_id, batch_id))
"""
COPY = """
COPY matches (record, account, amount_cents, refund, refund_cents, query_id, batch_id) FROM STDIN
"""
MATCHING = """
refund_of = record AND refunded_at BETWEEN event_time - INTERVAL 30 MINUTES
                                       AND event_time + INTERVAL 30 MINUTES
"""


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--bootstrap", required=True)
    options.add_argument("--topic", required=True)
    options.add_argument("--refunds", help="topic of the refunds", required=True)
    options.add_argument("--database", required=True)
    options.add_argument("--checkpoint", required=True)
    options.add_argument("--progress", required=True)
    options.add_argument("--guard", choices=["query-and-batch-id", "none"], required=True)
    options.add_argument("--watermark", help="allowed lateness, as in '30 seconds'", required=True)
    options.add_argument("--provider", help="class of the state store provider", required=True)
    options.add_argument("--per-batch", help="maximum records per topic and batch", required=True)
    given = options.parse_args()

    with psycopg.connect(given.database) as connection:
        connection.execute(MATCHES)

    spark = SparkSession.builder.getOrCreate()
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", given.provider)
    spark.streams.addListener(ProgressLog(given.progress))

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
            with cursor.copy(COPY) as copy:
                for row in rows:
                    copy.write_row((*row, query_id, batch_id))

    payments = (
        timed_payments(
            spark, bootstrap=given.bootstrap, topic=given.topic, per_batch=given.per_batch
        )
        .select("record", "account", "amount_cents", "event_time")
        .withWatermark("event_time", given.watermark)
    )
    refunds = (
        timed_payments(
            spark, bootstrap=given.bootstrap, topic=given.refunds, per_batch=given.per_batch
        )
        .select(
            col("record").alias("refund"),
            col("amount_cents").alias("refund_cents"),
            "refund_of",
            col("event_time").alias("refunded_at"),
        )
        .withWatermark("refunded_at", given.watermark)
    )
    query = (
        payments.join(refunds, expr(MATCHING))
        .select("record", "account", "amount_cents", "refund", "refund_cents")
        .writeStream.foreachBatch(write)
        .option("checkpointLocation", given.checkpoint)
        .start()
    )
    run_until_stopped(query)


if __name__ == "__main__":
    main()
