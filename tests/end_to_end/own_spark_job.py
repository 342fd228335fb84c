"""A user's PySpark job: valuable orders, one row per piece, into Parquet files.

In mode `append` it repeats a batch that it wrote before it died; in mode `overwrite` each batch has
its own folder.
"""

import sys

MIN_AMOUNT = 20_000


def pieces(order: dict) -> int:
    """The number of rows of an order."""
    return order["quantity"] if order["amount_cents"] >= MIN_AMOUNT else 0


def main() -> None:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql import functions as f

    bootstrap, checkpoint, jars, out, mode = sys.argv[1:]
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.jars", jars)
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    schema = "order_id string, quantity int, amount_cents long"
    rows = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", bootstrap)
        .option("subscribe", "orders")
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", 1000)
        .load()
        .select(f.from_json(f.col("value").cast("string"), schema).alias("o"))
        .select("o.*")
        .where(f.col("amount_cents") >= MIN_AMOUNT)
        .withColumn("piece", f.explode(f.sequence(f.lit(1), f.col("quantity"))))
    )

    def write(batch: DataFrame, number: int) -> None:
        path = out if mode == "append" else f"{out}/batch={number}"
        batch.write.mode(mode).parquet(path)

    query = rows.writeStream.foreachBatch(write).option("checkpointLocation", checkpoint).start()
    query.awaitTermination()


if __name__ == "__main__":
    main()
