"""A PySpark job as a user writes it: orders of some worth, one row for each piece, into files.

Told to append, it repeats a batch that it had written when it died; told to overwrite, each batch
has a folder of its own.
"""

import sys

WORTH = 20_000


def pieces(order: dict) -> int:
    """How many rows an order has."""
    return order["quantity"] if order["amount_cents"] >= WORTH else 0


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
        .where(f.col("amount_cents") >= WORTH)
        .withColumn("piece", f.explode(f.sequence(f.lit(1), f.col("quantity"))))
    )

    def write(batch: DataFrame, number: int) -> None:
        place = out if mode == "append" else f"{out}/batch={number}"
        batch.write.mode(mode).parquet(place)

    query = rows.writeStream.foreachBatch(write).option("checkpointLocation", checkpoint).start()
    query.awaitTermination()


if __name__ == "__main__":
    main()
