"""Our reading of an Iceberg table that Iceberg itself has written, with an epoch that came twice.

The one thing to know: the start of Spark takes its time, so `make test-faults` tries it.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from harness.sinks.iceberg import IcebergTable
from harness.subjects.spark_iceberg import SparkIceberg
from harness.tools.setup import ensure
from tests.end_to_end.catalogue import MINUTES

pytestmark = MINUTES

WRITER = """
import sys
from pyspark.sql import SparkSession

jars, folder = sys.argv[1:]
spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.jars", jars)
    .config("spark.ui.enabled", "false")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.local.dir", f"{folder}/local")
    .config("spark.sql.catalog.lake", "org.apache.iceberg.spark.SparkCatalog")
    .config("spark.sql.catalog.lake.type", "hadoop")
    .config("spark.sql.catalog.lake.warehouse", f"{folder}/lake")
    .getOrCreate()
)
columns = "record string, account string, amount_cents bigint, fee_cents bigint"
spark.sql(f"CREATE TABLE lake.payments ({columns}) USING iceberg")
for file in ("a", "b"):
    spark.range(3).selectExpr(
        f"'{file}-' || id AS record", "'x' AS account", "id AS amount_cents", "id AS fee_cents"
    ).coalesce(1).write.parquet(f"{folder}/source", mode="append")
files = spark.readStream.schema(columns).option("maxFilesPerTrigger", 1)
stream = files.parquet(f"{folder}/source")


def work_off():
    query = (
        stream.writeStream.format("iceberg")
        .option("checkpointLocation", f"{folder}/checkpoint")
        .trigger(availableNow=True)
        .toTable("lake.payments")
    )
    query.awaitTermination()
    print(query.id)


work_off()
# The last epoch comes again, as after a driver that died before its commit.
import pathlib
for file in ("1", ".1.crc"):
    pathlib.Path(folder, "checkpoint", "commits", file).unlink()
work_off()
"""


def test_an_epoch_that_comes_again_is_skipped_and_leaves_its_files(tmp_path: Path) -> None:
    tools = ensure(stage=False)
    needed = [jar for jar in tools.spark_kafka_jars if SparkIceberg().needs_jar(jar.name)]
    done = subprocess.run(
        [sys.executable, "-c", WRITER, ",".join(map(str, needed)), str(tmp_path)],
        env={"JAVA_HOME": str(tools.java_home), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    query, *_ = done.stdout.split()
    table = IcebergTable(
        tmp_path / "lake" / "payments", topic="payments", sink="table", listed="folder"
    )
    seen = [effect.record for effect in table.effects() if effect.sink == "table"]
    listed = [effect.record for effect in table.effects() if effect.sink == "folder"]
    records = [f"{file}-{number}" for file in ("a", "b") for number in range(3)]
    assert sorted(filter(None, seen)) == records
    assert len(listed) == 9
    assert sorted(set(filter(None, listed))) == records
    assert [(b.owner, b.batch) for b in table.atomic_batches()] == [(query, 0), (query, 1)]
