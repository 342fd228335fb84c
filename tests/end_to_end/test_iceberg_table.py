"""Reading of Iceberg tables that Iceberg's sink wrote, including repeated epochs.

Spark takes long to start, so only `make test-faults` runs this.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from inotify_simple import INotify, flags
from pyiceberg.table import StaticTable

from onceproof.harness.sinks.iceberg import IcebergTable
from onceproof.harness.sinks.rows import UnreadableFiles
from onceproof.harness.subjects.spark.iceberg import SparkIceberg
from onceproof.harness.tools.setup import ensure
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
properties = "'write.delete.mode'='merge-on-read', 'write.update.mode'='merge-on-read'"
spark.sql(
    f"CREATE TABLE IF NOT EXISTS lake.payments ({columns}) USING iceberg "
    f"TBLPROPERTIES ({properties})"
)
files = spark.readStream.schema(columns).option("maxFilesPerTrigger", 1)
query = (
    files.json(f"{folder}/source")
    .writeStream.format("iceberg")
    .option("checkpointLocation", f"{folder}/checkpoint")
    .trigger(availableNow=True)
    .toTable("lake.payments")
)
query.awaitTermination()
for statement in sys.stdin.read().splitlines():
    spark.sql(statement)
"""


class Query:
    """A Spark query that is run several times, and the table that it writes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "lake" / "payments" / "data"
        self.table = IcebergTable(self.data.parent, topic="payments", sink="table", listed="folder")
        (folder / "source").mkdir()

    def send(self, *records: str) -> None:
        """Add a source file, which becomes one micro-batch."""
        rows = ({"record": r, "account": "a", "amount_cents": 1, "fee_cents": 1} for r in records)
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (self.folder / "source" / f"{records[0]}.json").write_text(text)

    def start(self, *statements: str) -> subprocess.Popen[bytes]:
        """Start a driver that processes all source files and then executes the statements."""
        tools = ensure(stage=False)
        needed = [jar for jar in tools.spark_kafka_jars if SparkIceberg().needs_jar(jar.name)]
        (self.folder / "statements").write_text("\n".join(statements))
        with (
            (self.folder / "log").open("ab") as log,
            (self.folder / "statements").open() as stdin,
        ):
            return subprocess.Popen(
                [sys.executable, "-c", WRITER, ",".join(map(str, needed)), str(self.folder)],
                env={"JAVA_HOME": str(tools.java_home), "PATH": "/usr/bin:/bin"},
                stdin=stdin,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def run_driver(self, *statements: str) -> None:
        """Run a driver to completion."""
        assert self.start(*statements).wait(240) == 0, (self.folder / "log").read_text()[-2000:]

    def uncommit(self, batch: int) -> None:
        """Remove a batch from the commit log, as if the driver had died after the sink's commit."""
        for name in (str(batch), f".{batch}.crc"):
            (self.folder / "checkpoint" / "commits" / name).unlink()

    def kill_driver_at_write(self) -> None:
        """Kill a driver when it has begun to write a data file."""
        inotify = INotify()
        inotify.add_watch(self.data, flags.CREATE | flags.MODIFY)
        driver = self.start()
        try:
            while not any(e.name.endswith(".parquet") for e in inotify.read(timeout=1000)):
                assert driver.poll() is None, "it wrote nothing"
        finally:
            if driver.poll() is None:
                os.killpg(driver.pid, signal.SIGKILL)
            driver.wait(30)
            inotify.close()

    def records(self, sink: str) -> Counter[str | None]:
        return Counter(effect.record for effect in self.table.effects() if effect.sink == sink)


@pytest.fixture
def query(tmp_path: Path) -> Query:
    return Query(tmp_path)


def test_repeated_epoch_is_skipped_but_leaves_files(query: Query) -> None:
    query.send("a")
    query.send("b", "c")
    query.run_driver()
    query.uncommit(1)
    query.run_driver()
    assert query.records("table") == Counter(["a", "b", "c"])
    # As the first batch of a driver it was written by a task with another number.
    assert sum(query.records("folder").values()) > 3
    assert [batch.batch for batch in query.table.atomic_batches()] == [0, 1]


def test_repeated_first_epoch_overwrites_committed_file(query: Query) -> None:
    """See `docs/findings/iceberg-written-over.md`."""
    query.send("a", "b")
    query.run_driver()
    (file,) = query.data.glob("*.parquet")
    query.uncommit(0)
    query.kill_driver_at_write()
    with pytest.raises(UnreadableFiles, match="is part of the table but cannot be read"):
        query.table.effects()
    query.run_driver()
    assert query.records("table") == query.records("folder") == Counter(["a", "b"])
    assert list(query.data.glob("*.parquet")) == [file]


def test_merge_on_read_deletes_are_applied(query: Query) -> None:
    query.send("a", "b", "c", "d")
    query.send("b", "e", "f")
    query.run_driver(
        "DELETE FROM lake.payments WHERE record IN ('a', 'f')",
        "UPDATE lake.payments SET record = 'z' WHERE record = 'b'",
        "INSERT INTO lake.payments VALUES ('a', 'a', 1, 1)",
    )
    newest = max((query.data.parent / "metadata").glob("v*.metadata.json"))
    tasks = StaticTable.from_metadata(str(newest)).scan().plan_files()
    assert any(task.delete_files for task in tasks), "nothing is merged on read"
    assert query.records("table") == Counter(["a", "c", "d", "e", "z", "z"])
    listed = query.records("folder")  # includes delete files, which have no records
    assert listed - Counter({None: listed[None]}) == Counter("aabbcdefzz")
