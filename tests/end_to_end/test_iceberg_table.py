"""Our reading of Iceberg tables that Iceberg itself has written, with an epoch that came twice.

The start of Spark takes its time, so `make test-faults` tries it.
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


class Lives:
    """A driver that is started for what there is, and what it leaves."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "lake" / "payments" / "data"
        self.table = IcebergTable(self.data.parent, topic="payments", sink="table", listed="folder")
        (folder / "source").mkdir()

    def send(self, *records: str) -> None:
        """What makes a micro-batch of its own."""
        rows = ({"record": r, "account": "a", "amount_cents": 1, "fee_cents": 1} for r in records)
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (self.folder / "source" / f"{records[0]}.json").write_text(text)

    def start(self, *statements: str) -> subprocess.Popen[bytes]:
        """A driver that carries out statements when it has written what there is."""
        tools = ensure(stage=False)
        needed = [jar for jar in tools.spark_kafka_jars if SparkIceberg().needs_jar(jar.name)]
        (self.folder / "statements").write_text("\n".join(statements))
        with (
            (self.folder / "log").open("ab") as log,
            (self.folder / "statements").open() as told,
        ):
            return subprocess.Popen(
                [sys.executable, "-c", WRITER, ",".join(map(str, needed)), str(self.folder)],
                env={"JAVA_HOME": str(tools.java_home), "PATH": "/usr/bin:/bin"},
                stdin=told,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def live(self, *statements: str) -> None:
        """From its start to its end."""
        assert self.start(*statements).wait(240) == 0, (self.folder / "log").read_text()[-2000:]

    def uncommit(self, batch: int) -> None:
        """As if it had died when the sink had the batch and Spark did not know."""
        for name in (str(batch), f".{batch}.crc"):
            (self.folder / "checkpoint" / "commits" / name).unlink()

    def live_until_it_writes(self) -> None:
        """Killed when it has begun a data file."""
        watch = INotify()
        watch.add_watch(self.data, flags.CREATE | flags.MODIFY)
        driver = self.start()
        try:
            while not any(e.name.endswith(".parquet") for e in watch.read(timeout=1000)):
                assert driver.poll() is None, "it wrote nothing"
        finally:
            if driver.poll() is None:
                os.killpg(driver.pid, signal.SIGKILL)
            driver.wait(30)
            watch.close()

    def seen(self, sink: str) -> Counter[str | None]:
        return Counter(effect.record for effect in self.table.effects() if effect.sink == sink)


@pytest.fixture
def lives(tmp_path: Path) -> Lives:
    return Lives(tmp_path)


def test_an_epoch_that_comes_again_is_skipped_and_leaves_its_files(lives: Lives) -> None:
    lives.send("a")
    lives.send("b", "c")
    lives.live()
    lives.uncommit(1)
    lives.live()
    assert lives.seen("table") == Counter(["a", "b", "c"])
    # As the first batch of a life it was written by a task of another number.
    assert sum(lives.seen("folder").values()) > 3
    assert [batch.batch for batch in lives.table.atomic_batches()] == [0, 1]


def test_one_that_comes_again_as_it_came_writes_over_what_the_table_has(lives: Lives) -> None:
    """See `docs/findings/iceberg-written-over.md`."""
    lives.send("a", "b")
    lives.live()
    (file,) = lives.data.glob("*.parquet")
    lives.uncommit(0)
    lives.live_until_it_writes()
    with pytest.raises(UnreadableFiles, match="is part of the table but cannot be read"):
        lives.table.effects()
    lives.live()
    assert lives.seen("table") == lives.seen("folder") == Counter(["a", "b"])
    assert list(lives.data.glob("*.parquet")) == [file]


def test_rows_that_are_deleted_on_read_do_not_count(lives: Lives) -> None:
    lives.send("a", "b", "c", "d")
    lives.send("b", "e", "f")
    lives.live(
        "DELETE FROM lake.payments WHERE record IN ('a', 'f')",
        "UPDATE lake.payments SET record = 'z' WHERE record = 'b'",
        "INSERT INTO lake.payments VALUES ('a', 'a', 1, 1)",
    )
    newest = max((lives.data.parent / "metadata").glob("v*.metadata.json"))
    tasks = StaticTable.from_metadata(str(newest)).scan().plan_files()
    assert any(task.delete_files for task in tasks), "nothing is merged on read"
    assert lives.seen("table") == Counter(["a", "c", "d", "e", "z", "z"])
    listed = lives.seen("folder")  # files that delete are there too, and have no records
    assert listed - Counter({None: listed[None]}) == Counter("aabbcdefzz")
