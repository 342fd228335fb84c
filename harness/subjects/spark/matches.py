"""A PySpark query that joins two streams: payments and their refunds.

A match is written in the micro-batch that completes it; if the batch runs again, it must be found
again and not written twice. A record that the watermark drops too early is never matched.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.sinks.base import Sink
from onceproof.harness.sinks.matches import Matches, match_digest
from onceproof.harness.subjects.spark.state_subject import PATIENT_MS, Guard, SparkStateSubject
from onceproof.harness.subjects.spark.subject import JobPlace
from onceproof.harness.workload.payments import Payment


@dataclass(frozen=True, kw_only=True)
class SparkMatches(SparkStateSubject):
    """Payments and refunds to matches; records later than `watermark_ms` may not be matched."""

    guard: Guard = "query-and-batch-id"
    watermark_ms: int = PATIENT_MS
    refunds: str = "refunds"

    sink = "matches"

    @property
    def name(self) -> str:
        lacks = ("-unguarded" if self.guard == "none" else "") + (
            "-hasty" if self.watermark_ms < PATIENT_MS else ""
        )
        return f"spark-join{lacks}"

    @property
    def says(self) -> str:
        what = (
            "PySpark's join of two streams, payments and refunds, into PostgreSQL by foreachBatch"
        )
        if self.guard == "none":
            return f"{what}, without a guard: the broken twin. A match can be written twice."
        if self.watermark_ms < PATIENT_MS:
            return (
                f"{what}, with its guard and a watermark of {self.watermark_ms // 1000} s: the "
                "broken twin. Later records are never matched."
            )
        return f"{what}, with its guard: each match is written exactly once."

    def yields(self, payments: Sequence[Payment]) -> Iterator[tuple[str, str]]:
        by_record = {payment.record: payment for payment in payments}
        for refund in payments:
            if refund.refund_of is not None:
                payment = by_record[refund.refund_of]
                yield payment.record, match_digest(payment, refund)

    def command(self, place: JobPlace) -> list[str]:
        return self.job(
            "matches.py",
            place,
            *("--refunds", self.refunds, "--guard", self.guard),
            *("--watermark", f"{self.watermark_ms} milliseconds"),
        )

    def open_sink(self, *, database: str, reader: LogReader, work: Path) -> Sink:
        return Matches(database, sink=self.sink)
