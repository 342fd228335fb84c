"""A user's PySpark job: orders into an Iceberg table of a Hadoop catalog.

In mode `stream` it uses Iceberg's own sink, which skips batches that it already has; in mode
`merge` it keeps the newest order of each customer; in mode `append` it repeats a batch that it
wrote before it died.
"""

import sys

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

bootstrap, checkpoint, jars, lake, mode = sys.argv[1:]
TABLE = "lake.orders"
spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.jars", jars)
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "2")
    .config(
        "spark.sql.extensions",
        "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    )
    .config("spark.sql.catalog.lake", "org.apache.iceberg.spark.SparkCatalog")
    .config("spark.sql.catalog.lake.type", "hadoop")
    .config("spark.sql.catalog.lake.warehouse", lake)
    .getOrCreate()
)
spark.sql(f"CREATE TABLE IF NOT EXISTS {TABLE} (order_id string, customer string) USING iceberg")
rows = (
    spark.readStream.format("kafka")
    .option("kafka.bootstrap.servers", bootstrap)
    .option("subscribe", "orders")
    .option("startingOffsets", "earliest")
    .option("maxOffsetsPerTrigger", 1000)
    .load()
    .select(
        f.from_json(f.col("value").cast("string"), "order_id string, customer string").alias("o"),
        f.col("offset").alias("at"),
    )
    .select("o.*", "at")
)


def append(batch: DataFrame, number: int) -> None:
    """Write a batch as one snapshot, without its number."""
    batch.drop("at").writeTo(TABLE).append()


def merge(batch: DataFrame, _: int) -> None:
    """Write a batch as one snapshot, with the newest order of each customer."""
    newest = batch.groupBy("customer").agg(f.max_by("order_id", "at").alias("order_id"))
    newest.createOrReplaceTempView("batch")
    batch.sparkSession.sql(
        f"MERGE INTO {TABLE} t USING batch b ON t.customer = b.customer "
        "WHEN MATCHED THEN UPDATE SET order_id = b.order_id "
        "WHEN NOT MATCHED THEN INSERT (order_id, customer) VALUES (b.order_id, b.customer)"
    )


source = rows.drop("at") if mode == "stream" else rows
writer = source.writeStream.option("checkpointLocation", checkpoint)
if mode == "stream":
    query = writer.format("iceberg").outputMode("append").toTable(TABLE)
else:
    query = writer.foreachBatch(merge if mode == "merge" else append).start()
query.awaitTermination()
