"""PySpark foreachBatch into a Delta table.

With `--guard query-and-batch-id` each write carries `txnAppId` and `txnVersion`, and Delta skips a
version that its log already has for that application. With `--guard none` it has neither.
"""

import argparse

from pyspark.sql import DataFrame, SparkSession
from session import ProgressLog, payments, run_until_stopped

SETTINGS = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.databricks.delta.snapshotPartitions": "2",  # Delta's log is short
}


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--bootstrap", required=True)
    options.add_argument("--topic", required=True)
    options.add_argument("--table", help="folder of the table", required=True)
    options.add_argument("--checkpoint", required=True)
    options.add_argument("--progress", required=True)
    options.add_argument("--guard", choices=["query-and-batch-id", "none"], required=True)
    given = options.parse_args()

    builder = SparkSession.builder
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.streams.addListener(ProgressLog(given.progress))

    def write(batch: DataFrame, batch_id: int) -> None:
        writer = batch.write.format("delta").mode("append")
        if given.guard == "query-and-batch-id":
            context = batch.sparkSession.sparkContext
            query_id = str(context.getLocalProperty("sql.streaming.queryId"))
            writer = writer.option("txnAppId", query_id).option("txnVersion", batch_id)
        writer.save(given.table)

    query = (
        payments(spark, bootstrap=given.bootstrap, topic=given.topic)
        .writeStream.foreachBatch(write)
        .option("checkpointLocation", given.checkpoint)
        .start()
    )
    run_until_stopped(query)


if __name__ == "__main__":
    main()
