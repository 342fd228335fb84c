"""Payments without duplicates, by dropDuplicatesWithinWatermark, into PostgreSQL by foreachBatch.

A micro-batch that the table has is skipped. `--within batch` keeps no state: duplicates are dropped
only within a micro-batch.
"""

import argparse

import psycopg
from foreach_batch_postgres import COPY, LEDGER
from pyspark.sql import DataFrame, SparkSession
from session import ProgressLog, run_until_stopped, timed_payments


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--bootstrap", required=True)
    options.add_argument("--topic", required=True)
    options.add_argument("--database", required=True)
    options.add_argument("--checkpoint", required=True)
    options.add_argument("--progress", required=True)
    options.add_argument("--within", choices=["watermark", "batch"], required=True)
    options.add_argument("--watermark", help="allowed lateness, as in '1 minute'", required=True)
    options.add_argument("--provider", help="class of the state store provider", required=True)
    options.add_argument("--per-batch", help="maximum records in a micro-batch", required=True)
    given = options.parse_args()

    with psycopg.connect(given.database) as connection:
        connection.execute(LEDGER)

    spark = SparkSession.builder.getOrCreate()
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", given.provider)
    spark.streams.addListener(ProgressLog(given.progress))

    def write(batch: DataFrame, batch_id: int) -> None:
        query_id = batch.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId")
        found = batch.dropDuplicates(["record"]) if given.within == "batch" else batch
        rows = found.drop("event_time", "refund_of").collect()
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

    payments = timed_payments(
        spark, bootstrap=given.bootstrap, topic=given.topic, per_batch=given.per_batch
    )
    if given.within == "watermark":
        payments = payments.withWatermark(
            "event_time", given.watermark
        ).dropDuplicatesWithinWatermark(["record"])
    query = (
        payments.writeStream.foreachBatch(write)
        .option("checkpointLocation", given.checkpoint)
        .start()
    )
    run_until_stopped(query)


if __name__ == "__main__":
    main()
