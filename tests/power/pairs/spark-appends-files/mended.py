"""Writes orders into Parquet files."""

import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as f

bootstrap, source, checkpoint, jars, out = sys.argv[1:]
spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.jars", jars)
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "2")
    .getOrCreate()
)
orders = (
    spark.readStream.format("kafka")
    .option("kafka.bootstrap.servers", bootstrap)
    .option("kafka.isolation.level", "read_committed")
    .option("subscribe", source)
    .option("startingOffsets", "earliest")
    .option("maxOffsetsPerTrigger", 1000)
    .load()
    .where("value IS NOT NULL")
    .select(f.from_json(f.col("value").cast("string"), "order_id string, item string").alias("o"))
    .select("o.*")
)


def write(batch, number):
    """Write a micro-batch."""
    batch.write.mode("overwrite").parquet(f"{out}/batch={number}")


query = orders.writeStream.foreachBatch(write).option("checkpointLocation", checkpoint).start()
query.awaitTermination()
