"""A user's PySpark job: orders into a Delta table, from foreachBatch.

In mode `idempotent` it passes each batch number to Delta, which skips repeated ones; in mode
`merge` it adds only orders that the table does not have; in mode `append` it repeats a batch that
it wrote before it died.
"""

import sys

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

bootstrap, checkpoint, jars, table, mode = sys.argv[1:]
spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.jars", jars)
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "2")
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


def merge(batch: DataFrame, _: int) -> None:
    """Write a batch as one table version, without orders that are already present."""
    batch.createOrReplaceTempView("batch")
    batch.sparkSession.sql(
        f"MERGE INTO delta.`{table}` t USING batch b ON t.order_id = b.order_id "
        "WHEN NOT MATCHED THEN INSERT *"
    )


def append(batch: DataFrame, number: int) -> None:
    """Write a batch as one table version; idempotent with a batch number."""
    writer = batch.write.format("delta").mode("append")
    if mode == "idempotent":
        writer = writer.option("txnAppId", "orders").option("txnVersion", number)
    writer.save(table)


if mode == "merge":
    spark.sql(
        f"CREATE TABLE IF NOT EXISTS delta.`{table}` (order_id string, customer string) USING delta"
    )
write = merge if mode == "merge" else append
query = rows.writeStream.option("checkpointLocation", checkpoint).foreachBatch(write).start()
query.awaitTermination()
