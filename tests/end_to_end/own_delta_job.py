"""A PySpark job as a user writes it: orders into a Delta table, from foreachBatch.

Told to be idempotent, it gives each append the number of its batch, by which Delta knows it again;
told to append, it repeats a batch that it had written when it died.
"""

import sys

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

bootstrap, checkpoint, jars, table, mode = sys.argv[1:]
spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.jars", jars)
    .config("spark.ui.enabled", "false")
    .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
    .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
    .getOrCreate()
)
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
    """One version of the table for a batch; idempotent if it says which batch that is."""
    writer = batch.write.format("delta").mode("append")
    if mode == "idempotent":
        writer = writer.option("txnAppId", "orders").option("txnVersion", number)
    writer.save(table)


query = rows.writeStream.option("checkpointLocation", checkpoint).foreachBatch(append).start()
query.awaitTermination()
