"""PySpark's stream of payments with their fee, into a Paimon table by its streaming sink.

With `--keyed` the table has a primary key, without it rows are only appended.
"""

import argparse

from pyspark.sql import SparkSession
from session import ProgressLog, payments, run_until_stopped

CATALOG = "org.apache.paimon.spark.SparkCatalog"
COLUMNS = (
    "record string, account string, amount_cents bigint, fee_cents bigint, "
    "source_partition int, source_offset bigint"
)
# Manifests are read without a codec after the run, which sees all snapshots.
PROPERTIES = {
    "file.format": "parquet",
    "manifest.compression": "null",
    "snapshot.num-retained.min": "10000",
    "snapshot.num-retained.max": "10000",
}
KEYED = {"primary-key": "record", "bucket": "2"}


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--bootstrap", required=True)
    options.add_argument("--topic", required=True)
    options.add_argument("--warehouse", help="folder of the tables", required=True)
    options.add_argument("--checkpoint", required=True)
    options.add_argument("--progress", required=True)
    options.add_argument("--keyed", action="store_true")
    given = options.parse_args()

    builder = SparkSession.builder.config("spark.sql.catalog.lake", CATALOG)
    builder = builder.config("spark.sql.catalog.lake.warehouse", f"file:{given.warehouse}")
    spark = builder.getOrCreate()
    spark.streams.addListener(ProgressLog(given.progress))
    properties = {**PROPERTIES, **(KEYED if given.keyed else {})}
    told = ", ".join(f"'{name}' = '{value}'" for name, value in properties.items())
    spark.sql("CREATE DATABASE IF NOT EXISTS lake.shop")
    spark.sql(
        f"CREATE TABLE IF NOT EXISTS lake.shop.payments ({COLUMNS}) USING paimon "
        f"TBLPROPERTIES ({told})"
    )
    query = (
        payments(spark, bootstrap=given.bootstrap, topic=given.topic)
        .writeStream.format("paimon")
        .option("checkpointLocation", given.checkpoint)
        .outputMode("append")
        .start(f"file:{given.warehouse}/shop.db/payments")
    )
    run_until_stopped(query)


if __name__ == "__main__":
    main()
