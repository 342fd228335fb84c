"""A PySpark job as a user writes it: orders into an Iceberg table of a Hadoop catalog.

Told to stream, it leaves the writing to Iceberg's own sink, which knows again a batch that it has;
told to append, it repeats a batch that it had written when it died.
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
    .select(f.from_json(f.col("value").cast("string"), "order_id string, customer string"))
    .toDF("o")
    .select("o.*")
)


def append(batch: DataFrame, number: int) -> None:
    """One snapshot for a batch, which says nothing of it."""
    batch.writeTo(TABLE).append()


writer = rows.writeStream.option("checkpointLocation", checkpoint)
if mode == "stream":
    query = writer.format("iceberg").outputMode("append").toTable(TABLE)
else:
    query = writer.foreachBatch(append).start()
query.awaitTermination()
