"""A stateful PySpark query: account balances in Spark's state store, or in the job's own files.

Rewriting a balance changes nothing. Whether it is right depends on the state alone: a micro-batch's
changes must be rolled back before it runs again, and the broken twin's own files are not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.sinks.balances import BalancesTopic
from onceproof.harness.sinks.base import Sink
from onceproof.harness.subjects.spark.subject import JOBS, JobPlace, SparkSubject

Store = Literal["rocksdb", "hdfs-backed", "home-made"]
_PACKAGE: Final = "org.apache.spark.sql.execution.streaming.state"
_PROVIDERS: Final[Mapping[Store, str]] = {
    "rocksdb": f"{_PACKAGE}.RocksDBStateStoreProvider",
    "hdfs-backed": f"{_PACKAGE}.HDFSBackedStateStoreProvider",
}


@dataclass(frozen=True, kw_only=True)
class SparkBalances(SparkSubject):
    """Payments to balances, by `groupBy("account")` in update mode.

    With `store="home-made"` they are in files of the job, which it does not roll back.
    """

    store: Store = "rocksdb"
    sink: str = "balances"
    view: str = "read_committed"

    @property
    def name(self) -> str:
        return "spark-balances" + ("" if self.store == "rocksdb" else f"-{self.store}")

    @property
    def sinks(self) -> tuple[str, ...]:
        """None: a balance is not the effect of a single payment."""
        return ()

    @property
    def balances(self) -> bool:
        return True

    @property
    def says(self) -> str:
        if self.store == "home-made":
            return (
                "A PySpark query that keeps balances in its own files and continues from the "
                "newest: the broken twin. A failed micro-batch is not rolled back in them."
            )
        return (
            f"A PySpark query that keeps balances in Spark's state store ({self.store}) and writes "
            "each when it changes: Spark promises that each record updates the state exactly once."
        )

    @property
    def output_topic(self) -> str | None:
        return self.sink

    def configuration(self) -> Mapping[str, Any]:
        return {**super().configuration(), "state": {"store": self.store}}

    def command(self, place: JobPlace) -> list[str]:
        provider = _PROVIDERS.get(self.store)
        return [
            str(JOBS / ("balances.py" if provider else "balances_home_made.py")),
            *("--bootstrap", place.source_bootstrap, "--topic", place.topic),
            *("--sink-bootstrap", place.sink_bootstrap, "--sink-topic", self.sink),
            *("--checkpoint", str(place.checkpoint), "--progress", str(place.progress)),
            *(("--provider", provider) if provider else ()),
        ]

    def open_sink(self, *, database: str, reader: LogReader, work: Path) -> Sink:
        return BalancesTopic(reader, topic=self.sink, view=self.view)
