"""A PySpark query that drops records the application sent twice: dropDuplicatesWithinWatermark.

It is the only subject judged by record and not by offset: any one copy of a payment has an effect.
It remembers a payment for the watermark delay, so that must cover lateness and repetition.
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
    """Payments without duplicates.

    Attributes:
        within: where duplicates are dropped: within the watermark, or (broken twin) within one
            micro-batch only.
        watermark_ms: how late a payment or its copy may be.
    """

    within: Literal["watermark", "batch"] = "watermark"
    watermark_ms: int = PATIENT_MS + 60_000
    topic: str = "payments"

    sink = "ledger"

    @property
    def name(self) -> str:
        return "spark-deduplicated" + ("-in-batch" if self.within == "batch" else "")

    @property
    def says(self) -> str:
        if self.within == "batch":
            return (
                "PySpark's dropDuplicates within each micro-batch, by foreachBatch into PostgreSQL "
                "with its guard: the broken twin. Duplicates in different batches are not dropped."
            )
        return (
            "PySpark's dropDuplicatesWithinWatermark, by foreachBatch into PostgreSQL with its "
            "guard: a payment that the application sent twice counts once."
        )

    def command(self, place: JobPlace) -> list[str]:
        return self.job(
            "deduplicated.py",
            place,
            *("--within", self.within, "--watermark", f"{self.watermark_ms} milliseconds"),
        )

    def open_sink(self, *, database: str, reader: LogReader, work: Path) -> Sink:
        return Ledger(database, topic=self.topic, sink=self.sink, view=self.view)
