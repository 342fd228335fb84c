"""A PySpark query that drops what the application sent twice: dropDuplicatesWithinWatermark.

This is the one subject that is judged by record and not by position. However
often a payment is in the input, it has one effect; which of its positions that is of is up to
the query. It knows a payment for as long as its watermark waits, so that has to be longer than
payments are late and repeated.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.sinks.base import Sink
from onceproof.harness.sinks.ledger import Ledger
from onceproof.harness.subjects.spark.state_subject import PATIENT_MS, SparkStateSubject
from onceproof.harness.subjects.spark.subject import JobPlace


@dataclass(frozen=True, kw_only=True)
class SparkDeduplicated(SparkStateSubject):
    """Payments, each once.

    Attributes:
        within: where duplicates are looked for: in what the watermark has not passed, or in one
            micro-batch alone.
        watermark_ms: how late a payment may be, or be repeated.
    """

    within: Literal["watermark", "batch"] = "watermark"
    watermark_ms: int = PATIENT_MS + 60_000
    topic: str = "payments"

    sink = "ledger"

    @property
    def name(self) -> str:
        """`spark-deduplicated`, with what the twin lacks."""
        return "spark-deduplicated" + ("-in-batch" if self.within == "batch" else "")

    @property
    def says(self) -> str:
        if self.within == "batch":
            return (
                "PySpark's dropDuplicates in each micro-batch by itself, in foreachBatch into "
                "PostgreSQL with its guard: the broken twin. The next batch knows of nothing."
            )
        return (
            "PySpark's dropDuplicatesWithinWatermark, by foreachBatch into PostgreSQL with its "
            "guard: what the application sent twice counts once."
        )

    def command(self, place: JobPlace) -> list[str]:
        return self.job(
            "deduplicated.py",
            place,
            *("--within", self.within, "--watermark", f"{self.watermark_ms} milliseconds"),
        )

    def open_sink(self, *, database: str, reader: LogReader, work: Path) -> Sink:
        return Ledger(database, topic=self.topic, sink=self.sink, view=self.view)
