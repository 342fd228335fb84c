"""PySpark's stream of payments with their fee, into an Iceberg table.

`--guard query-and-epoch` uses Iceberg's streaming sink, which skips an epoch that a snapshot's
summary names. `--guard none` appends each micro-batch. `--tidy` maintains the table whenever the
job starts, as Iceberg's documentation recommends for streams.
"""

import argparse

from pyspark.sql import DataFrame, SparkSession
from session import ProgressLog, payments, run_until_stopped

CATALOG = {"": "org.apache.iceberg.spark.SparkCatalog", ".type": "hadoop"}
PROCEDURES = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
TABLE = "lake.payments"
COLUMNS = (
    "record string, account string, amount_cents bigint, fee_cents bigint, "
    "source_partition int, source_offset bigint"
)


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--bootstrap", required=True)
    options.add_argument("--topic", required=True)
    options.add_argument("--warehouse", help="folder of the tables", required=True)
    options.add_argument("--checkpoint", required=True)
    options.add_argument("--progress", required=True)
    options.add_argument("--guard", choices=["query-and-epoch", "none"], required=True)
    options.add_argument("--tidy", action="store_true")
    given = options.parse_args()

    builder = SparkSession.builder.config("spark.sql.catalog.lake.warehouse", given.warehouse)
    for name, value in CATALOG.items():
        builder = builder.config(f"spark.sql.catalog.lake{name}", value)
    if given.tidy:
        builder = builder.config("spark.sql.extensions", PROCEDURES)
    spark = builder.getOrCreate()
    spark.streams.addListener(ProgressLog(given.progress))
    spark.sql(f"CREATE TABLE IF NOT EXISTS {TABLE} ({COLUMNS}) USING iceberg")
    if given.tidy:
        tidy(spark)

    writer = payments(spark, bootstrap=given.bootstrap, topic=given.topic).writeStream.option(
        "checkpointLocation", given.checkpoint
    )
    if given.guard == "query-and-epoch":
        run_until_stopped(writer.format("iceberg").outputMode("append").toTable(TABLE))
    else:
        run_until_stopped(writer.foreachBatch(append).start())


def append(batch: DataFrame, _: int) -> None:
    """Append a micro-batch as one snapshot, which does not name it."""
    batch.writeTo(TABLE).append()


def tidy(spark: SparkSession) -> None:
    """Merge manifests, and expire all snapshots but the newest."""
    spark.sql(f"CALL lake.system.rewrite_manifests('{TABLE}')")
    spark.sql(
        f"CALL lake.system.expire_snapshots(table => '{TABLE}', older_than => now(), "
        "retain_last => 1)"
    )


if __name__ == "__main__":
    main()
