"""PySpark's own file sink: payments with their fee, in Parquet files."""

import argparse

from pyspark.sql import SparkSession
from session import ProgressLog, payments, run_until_stopped


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--bootstrap", required=True)
    options.add_argument("--topic", required=True)
    options.add_argument("--output", help="folder of the files", required=True)
    options.add_argument("--checkpoint", required=True)
    options.add_argument("--progress", required=True)
    given = options.parse_args()

    spark = SparkSession.builder.getOrCreate()
    spark.streams.addListener(ProgressLog(given.progress))
    query = (
        payments(spark, bootstrap=given.bootstrap, topic=given.topic)
        .writeStream.format("parquet")
        .option("path", given.output)
        .option("checkpointLocation", given.checkpoint)
        .start()
    )
    run_until_stopped(query)


if __name__ == "__main__":
    main()
