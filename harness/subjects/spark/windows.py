"""A PySpark query with event-time windows: payments by account and minute, in each output mode.

Append mode must not repeat the write of a window; update mode may. Whether a payment counts at all
depends on the watermark delay, which must cover the disorder of payments.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.sinks.base import Sink
from onceproof.harness.sinks.windows import TOTAL, Windows, window_key
from onceproof.harness.subjects.spark.state_subject import PATIENT_MS, Guard, SparkStateSubject
from onceproof.harness.subjects.spark.subject import JobPlace
from onceproof.harness.workload.contributions import Contribution, total_and_count
from onceproof.harness.workload.payments import Payment

Mode = Literal["append", "update", "add"]

_SAYS: Final[dict[Mode, str]] = {
    "append": "each window is written once, when the watermark has passed it",
    "update": "each window is overwritten whenever its sum changes",
    "add": "each micro-batch adds its sums to those in the table, without state in Spark",
}


@dataclass(frozen=True, kw_only=True)
class SparkWindows(SparkStateSubject):
    """Payments to sums by account and minute.

    Attributes:
        mode: output mode; `add` is a broken twin without state.
        guard: what keeps a micro-batch from being written again; idempotent writes need none.
        watermark_ms: how late a payment may be and still count.
    """

    mode: Mode = "append"
    guard: Guard = "query-and-batch-id"
    watermark_ms: int = PATIENT_MS

    sink = "windows"

    @property
    def name(self) -> str:
        lacks = ("-unguarded" if self.mode == "append" and self.guard == "none" else "") + (
            "-hasty" if self.watermark_ms < PATIENT_MS else ""
        )
        return f"spark-windows-{self.mode}{lacks}"

    @property
    def sinks(self) -> tuple[str, ...]:
        """None: a sum is not the effect of a single payment."""
        return ()

    @property
    def says(self) -> str:
        guard = "without a guard" if self.guard == "none" else "guarded by (query id, batch id)"
        what = (
            "A PySpark query that sums payments by account and minute, by foreachBatch into "
            f"PostgreSQL, {guard}; {_SAYS[self.mode]}"
        )
        if self.mode == "add":
            return f"{what}: the broken twin. A repeated micro-batch is added twice."
        if self.watermark_ms < PATIENT_MS:
            return (
                f"{what}. With its watermark of {self.watermark_ms // 1000} s, the broken twin "
                "drops payments that arrive later."
            )
        if self.mode == "append" and self.guard == "none":
            return f"{what}: the broken twin. A window that is written twice counts twice."
        return f"{what}: every payment counts exactly once in its window."

    def contributions(self, payment: Payment) -> Iterator[Contribution]:
        """Return the payment's contribution to its window.

        The window of the payment that closes the others stays open: append mode never writes it.
        """
        if payment.event_ms is None:
            raise ValueError(
                f"{payment.record} has no event time, which {self.name} requires: use a workload "
                "such as Payments(producers=1, partitions=1, event_step_ms=1000)"
            )
        if self.mode != "append" or not payment.closes:
            key = window_key(payment.account, payment.event_ms)
            yield from total_and_count(self.sink, key, payment, total=TOTAL)

    def command(self, place: JobPlace) -> list[str]:
        return self.job(
            "windows.py",
            place,
            *("--mode", self.mode, "--guard", self.guard),
            *("--watermark", f"{self.watermark_ms} milliseconds"),
        )

    def open_sink(self, *, database: str, reader: LogReader, work: Path) -> Sink:
        return Windows(database, sink=self.sink)
