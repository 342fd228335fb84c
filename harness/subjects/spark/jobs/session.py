"""Common parts of the PySpark jobs: the source, the transformation, an orderly end.

The jobs are plain PySpark programs, as a user would write them: they import nothing of onceproof,
and Spark's own listener reports their progress.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pyspark
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.functions import col, expr, from_json, timestamp_millis
from pyspark.sql.streaming import StreamingQuery, StreamingQueryListener


def started(master: str | None, *, beside: str) -> SparkSession:
    """Return a session with the settings' master, or with another one.

    `local-cluster[executors,cores,megabytes]` starts executors as processes that write to Spark's
    home. To keep the installed package clean, they get a home of symbolic links beside `beside`.
    """
    if master is None:
        return SparkSession.builder.getOrCreate()
    home = Path(beside).parent / "spark-home"
    home.mkdir(exist_ok=True)
    for part in Path(pyspark.__file__).parent.iterdir():
        if part.is_dir() and not (home / part.name).exists():
            (home / part.name).symlink_to(part)
    os.environ["SPARK_HOME"] = str(home)
    memory = master.rstrip("]").rpartition(",")[2]
    builder = SparkSession.builder.master(master).config("spark.executor.memory", f"{memory}m")
    return builder.getOrCreate()


class ProgressLog(StreamingQueryListener):
    """Appends the progress of each micro-batch to a JSON Lines file."""

    def __init__(self, path: str) -> None:
        self._file = Path(path).open("a", encoding="utf-8", buffering=1)  # noqa: SIM115

    def onQueryStarted(self, event: Any) -> None:
        """Do nothing."""

    def onQueryProgress(self, event: Any) -> None:
        progress = {
            "t": "progress",
            "at": time.monotonic_ns(),
            "progress": json.loads(event.progress.json),
        }
        self._file.write(json.dumps(progress) + "\n")

    def onQueryIdle(self, event: Any) -> None:
        """Do nothing."""

    def onQueryTerminated(self, event: Any) -> None:
        """Do nothing."""


def payments(
    spark: SparkSession,
    *,
    bootstrap: str,
    topic: str,
    isolation: str | None = "read_committed",
    per_batch: str | None = None,
    begin: str = "earliest",
) -> DataFrame:
    """Return payments with their fee: 2.9 % of the amount, rounded down, and 30 cents.

    `isolation=None` leaves Spark's default, which also reads uncommitted records.
    """
    source = records(
        spark,
        bootstrap=bootstrap,
        topic=topic,
        isolation=isolation,
        per_batch=per_batch,
        begin=begin,
    )
    return source.select(parsed(), "partition", "offset").select(*columns())


def timed_payments(spark: SparkSession, *, bootstrap: str, topic: str, per_batch: str) -> DataFrame:
    """Return payments with their fee, their event time, and the payment that they refund."""
    source = records(
        spark, bootstrap=bootstrap, topic=topic, isolation="read_committed", per_batch=per_batch
    )
    payment = parsed("event_ms BIGINT, refund_of STRING")
    return source.select(payment, "partition", "offset").select(
        *columns(),
        timestamp_millis(col("payment.event_ms")).alias("event_time"),
        col("payment.refund_of"),
    )


def columns() -> list[Column]:
    return [
        col("payment.record"),
        col("payment.account"),
        col("payment.amount_cents"),
        expr("payment.amount_cents * 29 div 1000 + 30").alias("fee_cents"),
        col("partition").alias("source_partition"),
        col("offset").alias("source_offset"),
    ]


def parsed(*more: str) -> Column:
    fields = ", ".join(["record STRING, account STRING, amount_cents BIGINT", *more])
    return from_json(col("value").cast("string"), fields).alias("payment")


def records(
    spark: SparkSession,
    *,
    bootstrap: str,
    topic: str,
    isolation: str | None,
    per_batch: str | None,
    begin: str = "earliest",
) -> DataFrame:
    """Read from Kafka; a query without a checkpoint starts at `begin`."""
    settings = {} if isolation is None else {"kafka.isolation.level": isolation}
    if per_batch is not None:
        settings["maxOffsetsPerTrigger"] = per_batch
    return (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", bootstrap)
        .option("subscribe", topic)
        .option("startingOffsets", begin)
        .options(**settings, **connecting())
        .load()
    )


def connecting() -> dict[str, str]:
    """Return the connection options of sources and sinks; none for plain-text brokers."""
    found = _properties("java.properties")
    return {f"kafka.{name}": value.replace("\\\\", "\\") for name, value in found.items()}


def connecting_outside() -> dict[str, str]:
    """Return the connection options of a librdkafka client."""
    return _properties("librdkafka.properties")


def _properties(name: str) -> dict[str, str]:
    folder = os.environ.get("ONCEPROOF_CONNECTION")
    if folder is None:
        return {}
    lines = (Path(folder) / name).read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines)


def run_until_stopped(query: StreamingQuery) -> None:
    """Wait for the query; SIGTERM stops it in an orderly way."""

    def stop(*_: object) -> None:
        query.stop()
        sys.exit(0)

    signal.signal(signal.SIGTERM, stop)
    # Python calls `stop` in this thread, which a signal to another one does not wake.
    while not query.awaitTermination(1):
        pass
