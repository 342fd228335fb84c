"""A PySpark query with its own state logic: transformWithStateInPandas, a balance by account.

State and output are two claims. The guard makes each payment have one row; the row's balance
depends on the state, which Spark rolls back before a batch runs again, unlike the job's own files.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.sinks.base import Sink
from onceproof.harness.sinks.books import BALANCES, LEDGER
from onceproof.harness.sinks.statements import Statements
from onceproof.harness.subjects.spark.state_subject import SparkStateSubject
from onceproof.harness.subjects.spark.subject import JobPlace
from onceproof.harness.workload.contributions import Contribution, total_and_count
from onceproof.harness.workload.payments import Payment


@dataclass(frozen=True, kw_only=True)
class SparkStatements(SparkStateSubject):
    """Payments to rows, each with the balance after it, which is kept in `store`."""

    store: Literal["rocksdb", "home-made"] = "rocksdb"
    topic: str = "payments"

    sink = LEDGER
    balances_sink = BALANCES

    @property
    def name(self) -> str:
        return "spark-transform-with-state" + ("-home-made" if self.store == "home-made" else "")

    @property
    def says(self) -> str:
        what = "PySpark's transformWithStateInPandas, a running balance of each account"
        into = "into PostgreSQL by foreachBatch with its guard"
        if self.store == "home-made":
            return (
                f"{what} in its own files, {into}: the broken twin. A balance is not rolled back "
                "when its micro-batch runs again."
            )
        return f"{what} in Spark's state store, {into}: exactly-once in both rows and state."

    def contributions(self, payment: Payment) -> Iterator[Contribution]:
        return total_and_count(self.balances_sink, payment.account, payment)

    def command(self, place: JobPlace) -> list[str]:
        own = () if self.store == "rocksdb" else ("--store", str(place.work / "balances"))
        return self.job("statements.py", place, *own)

    def open_sink(self, *, database: str, reader: LogReader, work: Path) -> Sink:
        """Open the rows, of which the newest per account has its balance."""
        return Statements(database, topic=self.topic, sink=self.sink, view=self.view)
