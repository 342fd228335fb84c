"""A self-contained PySpark job that makes its driver load the classes that our jobs load.

It shuts its JVM down in an orderly way: only then does the JVM write the list of loaded classes.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import window
from pyspark.sql.streaming import StreamingQuery

BATCHES = 2
SECONDS = 120


def main() -> None:
    spark = SparkSession.builder.getOrCreate()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        queries = [each_batch(spark, work / "each"), balances(spark, work / "balances")]
        for query in queries:
            wait(query)
            query.stop()
    gateway: Any = spark.sparkContext._gateway
    spark.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()
    raise SystemExit(gateway.proc.wait(SECONDS))


def each_batch(spark: SparkSession, checkpoint: Path) -> StreamingQuery:
    def take(batch: DataFrame, number: int) -> None:
        batch.persist()
        rows = batch.selectExpr("from_json(value, 'id BIGINT, at TIMESTAMP') AS it").select("it.*")
        print(json.dumps([number, batch.count(), [str(row) for row in rows.collect()[:1]]]))
        batch.unpersist()

    return (
        records(spark)
        .writeStream.foreachBatch(take)
        .option("checkpointLocation", str(checkpoint))
        .start()
    )


def balances(spark: SparkSession, folder: Path) -> StreamingQuery:
    return (
        records(spark)
        .withWatermark("timestamp", "0 seconds")
        .groupBy("key", window("timestamp", "1 second"))
        .count()
        .writeStream.format("json")
        .outputMode("append")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .start(str(folder / "out"))
    )


def records(spark: SparkSession) -> DataFrame:
    """Generate rows with the columns of a topic's records that our jobs use."""
    rows = spark.readStream.format("rate").option("rowsPerSecond", 100).load()
    return rows.selectExpr(
        "CAST(value % 7 AS STRING) AS key",
        "to_json(named_struct('id', value, 'at', timestamp)) AS value",
        "timestamp",
    )


def wait(query: StreamingQuery) -> None:
    done = 0
    while done < BATCHES:
        if query.awaitTermination(1):
            raise SystemExit("the query ended by itself")
        progress: Any = query.lastProgress
        done = -1 if progress is None else progress["batchId"]


if __name__ == "__main__":
    main()
