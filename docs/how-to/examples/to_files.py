"""A PySpark job: orders from Kafka into a folder of Parquet files. It has a bug."""

import sys

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

bootstrap, topic, checkpoint, jars, out = sys.argv[1:]
spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.jars", jars)
    .config("spark.ui.enabled", "false")
    .getOrCreate()
)
orders = (
    spark.readStream.format("kafka")
    .option("kafka.bootstrap.servers", bootstrap)
    .option("kafka.isolation.level", "read_committed")
    .option("subscribe", topic)
    .option("startingOffsets", "earliest")
    .option("maxOffsetsPerTrigger", 1000)
    .load()
    .select(f.from_json(f.col("value").cast("string"), "order_id string, item string").alias("o"))
    .select("o.*")
)


def write(batch: DataFrame, number: int) -> None:
    """Write a micro-batch."""
    batch.write.mode("append").parquet(out)


query = orders.writeStream.foreachBatch(write).option("checkpointLocation", checkpoint).start()
query.awaitTermination()
