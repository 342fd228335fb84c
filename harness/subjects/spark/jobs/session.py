"""What the PySpark jobs of this folder share: the source, the transformation, an orderly end.

These are plain PySpark programs, written as a user would write them: nothing of onceproof is
imported, and what tells their progress is Spark's own listener.
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
    """A session with the master that the settings name, or with another.

    A `local-cluster[executors,cores,megabytes]` starts executors as processes, which keep their
    folders in Spark's home. So that nothing is left in the installed package, it gets a home of its
    own, made of links, where `beside` is.
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
    """Appends each micro-batch's progress, as Spark tells it, to a file of JSON Lines."""

    def __init__(self, path: str) -> None:
        self._file = Path(path).open("a", encoding="utf-8", buffering=1)  # noqa: SIM115

    def onQueryStarted(self, event: Any) -> None:
        """Not of interest."""

    def onQueryProgress(self, event: Any) -> None:
        """Write it down, with the moment at which it was reported."""
        progress = {
            "t": "progress",
            "at": time.monotonic_ns(),
            "progress": json.loads(event.progress.json),
        }
        self._file.write(json.dumps(progress) + "\n")

    def onQueryIdle(self, event: Any) -> None:
        """Not of interest."""

    def onQueryTerminated(self, event: Any) -> None:
        """Not of interest."""


def payments(
    spark: SparkSession,
    *,
    bootstrap: str,
    topic: str,
    isolation: str | None = "read_committed",
    per_batch: str | None = None,
    begin: str = "earliest",
) -> DataFrame:
    """The stream of payments with their fee: 2.9 % of the amount, rounded down, and 30 cents.

    With None the source's isolation level is not set: then it also reads what is not committed.
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
    """The same with the time at which each happened, and what it refunds."""
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
    """A payment with its fee, and where it was read."""
    return [
        col("payment.record"),
        col("payment.account"),
        col("payment.amount_cents"),
        expr("payment.amount_cents * 29 div 1000 + 30").alias("fee_cents"),
        col("partition").alias("source_partition"),
        col("offset").alias("source_offset"),
    ]


def parsed(*more: str) -> Column:
    """The record's value, as `payment`."""
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
    """What Spark's Kafka source gives; a query without a checkpoint begins where `begin` says."""
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
    """How a source or a sink connects to Kafka; nothing where brokers take plain text."""
    found = _properties("java.properties")
    return {f"kafka.{name}": value.replace("\\\\", "\\") for name, value in found.items()}


def connecting_outside() -> dict[str, str]:
    """The same for a client of librdkafka's."""
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
    query.awaitTermination()
