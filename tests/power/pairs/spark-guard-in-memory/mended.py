"""Writes orders into a table, each micro-batch once."""

import sys
import time

import psycopg
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

bootstrap, source, checkpoint, jars, where = sys.argv[1:]
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


def connect():
    """Wait for the database, however long it is away."""
    while True:
        try:
            return psycopg.connect(where)
        except psycopg.OperationalError as error:
            print(error, file=sys.stderr, flush=True)
            time.sleep(1)


with connect() as database:
    database.execute("CREATE TABLE IF NOT EXISTS shipped (order_id text, item text)")
    database.execute("CREATE TABLE IF NOT EXISTS batches (batch int PRIMARY KEY)")


def write(batch, number):
    """Write a micro-batch, unless it was written before."""
    rows = [(row.order_id, row.item) for row in batch.collect()]
    with connect() as database:
        if database.execute("SELECT 1 FROM batches WHERE batch = %s", [number]).fetchone():
            return
        database.cursor().executemany("INSERT INTO shipped VALUES (%s, %s)", rows)
        database.execute("INSERT INTO batches VALUES (%s)", [number])


query = orders.writeStream.foreachBatch(write).option("checkpointLocation", checkpoint).start()
query.awaitTermination()
