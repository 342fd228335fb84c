"""A PySpark query with windows: payments by account and minute of the event time, in each mode.

In append mode a window is written once, when the watermark has passed it,
and never again; in update mode each time that it has grown, over what was there. The first must not
be done twice, the second may. And whether a payment counts at all is up to the watermark: it must
wait as long as payments are out of order.
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
    "append": "each written once, when the watermark has passed it",
    "update": "each written whenever it has grown, over what was there",
    "add": "kept in the table alone: what a micro-batch has of each is added to it",
}


@dataclass(frozen=True, kw_only=True)
class SparkWindows(SparkStateSubject):
    """Payments to sums by account and minute.

    Attributes:
        mode: when a window is written, and how.
        guard: what keeps a micro-batch from being written again; a write that may be done again
            needs none.
        watermark_ms: how late a payment may be and still count.
    """

    mode: Mode = "append"
    guard: Guard = "query-and-batch-id"
    watermark_ms: int = PATIENT_MS

    sink = "windows"

    @property
    def name(self) -> str:
        """`spark-windows-append`, with what each twin lacks."""
        lacks = ("-unguarded" if self.mode == "append" and self.guard == "none" else "") + (
            "-hasty" if self.watermark_ms < PATIENT_MS else ""
        )
        return f"spark-windows-{self.mode}{lacks}"

    @property
    def sinks(self) -> tuple[str, ...]:
        """None: a sum is no effect of any one payment."""
        return ()

    @property
    def says(self) -> str:
        guard = "without a guard" if self.guard == "none" else "guarded by (query id, batch id)"
        what = (
            f"A PySpark query that sums up payments by account and minute, {_SAYS[self.mode]}, by "
            f"foreachBatch into PostgreSQL, {guard}"
        )
        if self.mode == "add":
            return f"{what}: the broken twin. What was added is not taken back."
        if self.watermark_ms < PATIENT_MS:
            return (
                f"{what}, with a watermark of {self.watermark_ms // 1000} s: the broken twin. It "
                "drops what comes later than that."
            )
        if self.mode == "append" and self.guard == "none":
            return f"{what}: the broken twin. A window that is written again counts twice."
        return f"{what}: every payment counts exactly once in its window."

    def contributions(self, payment: Payment) -> Iterator[Contribution]:
        """To its window. That of the payment which closes the others stays open: it is not written
        by a query that writes only what is closed.
        """
        if payment.event_ms is None:
            raise ValueError(
                f"{payment.record} has no event time, which {self.name} goes by: expected a "
                "workload such as Payments(producers=1, partitions=1, event_step_ms=1000)"
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
