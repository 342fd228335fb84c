"""PySpark's stream of payments with their fee, into a Hudi table.

`--guard writer-and-batch-id` uses Hudi's streaming sink, which skips a batch that is not after the
last one of its writer; all queries are the same writer by default. `--guard
checkpoint-and-batch-id` gives every checkpoint a writer of its own. `--guard none` inserts each
micro-batch.

With `--begin behind-table` a query without a checkpoint starts after the records in the table.
"""

import argparse
import json
import uuid
from pathlib import Path

from confluent_kafka.admin import AdminClient
from pyspark.sql import DataFrame, SparkSession
from session import ProgressLog, connecting_outside, payments, run_until_stopped

SESSION = {
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
    "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
}
GUARDS = ["writer-and-batch-id", "checkpoint-and-batch-id", "none"]
TABLE = {
    "hoodie.table.name": "payments",
    "hoodie.write.table.version": "6",  # its timeline is in JSON
    "hoodie.datasource.write.operation": "insert",
    "hoodie.datasource.write.recordkey.field": "record",
    "hoodie.datasource.write.keygenerator.type": "NON_PARTITION",
    "hoodie.metadata.enable": "false",
    "hoodie.insert.shuffle.parallelism": "2",
    # Who reads the timeline after the run needs all commits.
    "hoodie.keep.min.commits": "9999",
    "hoodie.keep.max.commits": "10000",
}
WRITER = "hoodie.datasource.write.streaming.checkpoint.identifier"


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--bootstrap", required=True)
    options.add_argument("--topic", required=True)
    options.add_argument("--table", help="folder of the table", required=True)
    options.add_argument("--checkpoint", required=True)
    options.add_argument("--progress", required=True)
    options.add_argument("--guard", choices=GUARDS, required=True)
    options.add_argument("--begin", choices=["earliest", "behind-table"], default="earliest")
    given = options.parse_args()

    builder = SparkSession.builder
    for name, value in SESSION.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.streams.addListener(ProgressLog(given.progress))

    def insert(batch: DataFrame, _: int) -> None:
        """Write a micro-batch as one commit, which does not name it."""
        batch.write.format("hudi").options(**TABLE).mode("append").save(given.table)

    begin = "earliest"
    if given.begin == "behind-table":
        begin = behind(spark, given.table, bootstrap=given.bootstrap, topic=given.topic)
    source = payments(spark, bootstrap=given.bootstrap, topic=given.topic, begin=begin)
    writer = source.writeStream.option("checkpointLocation", given.checkpoint)
    if given.guard == "none":
        run_until_stopped(writer.foreachBatch(insert).start())
        return
    options_of_sink = dict(TABLE)
    if given.guard == "checkpoint-and-batch-id":
        options_of_sink[WRITER] = identifier(given.checkpoint)
    run_until_stopped(writer.format("hudi").options(**options_of_sink).start(given.table))


def identifier(checkpoint: str) -> str:
    """Return the identifier of a checkpoint's writer, which is kept in the checkpoint."""
    file = Path(checkpoint) / "writer"
    if not file.exists():
        file.write_text(str(uuid.uuid4()), encoding="utf-8")
    return file.read_text(encoding="utf-8")


def behind(spark: SparkSession, table: str, *, bootstrap: str, topic: str) -> str:
    """Return the offsets after the table's records, for `startingOffsets`; -2 is the earliest."""
    found: dict[int, int] = {}
    if (Path(table) / ".hoodie").exists():
        rows = spark.read.format("hudi").load(table)
        last = rows.groupBy("source_partition").agg({"source_offset": "max"}).collect()
        found = {partition: offset + 1 for partition, offset in last}
    admin = AdminClient({"bootstrap.servers": bootstrap, **connecting_outside()})
    partitions = admin.list_topics(topic, timeout=30).topics[topic].partitions
    return json.dumps({topic: {str(each): found.get(each, -2) for each in partitions}})


if __name__ == "__main__":
    main()
