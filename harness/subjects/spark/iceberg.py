"""PySpark into an Iceberg table: by Iceberg's own sink, by plain appends, or with maintenance."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.sinks.base import Sink
from onceproof.harness.sinks.iceberg import METADATA, VIEW, IcebergTable
from onceproof.harness.subjects.spark.subject import JOBS, JobPlace, SparkSubject


@dataclass(frozen=True, kw_only=True)
class SparkIceberg(SparkSubject):
    """A micro-batch is one snapshot of the table; the guard is in the snapshot's summary.

    One run is judged for two readers of the same table.

    Attributes:
        tidied: expire older snapshots whenever the job starts.
        sink: the table, for readers of its metadata.
        listed: the table, for readers that list its data files.
    """

    guard: Literal["query-and-epoch", "none"] = "query-and-epoch"
    tidied: bool = False
    sink: str = "iceberg-table"
    listed: str = "data-folder"
    topic: str = "payments"

    @property
    def name(self) -> str:
        twin = "-unguarded" if self.guard == "none" else "-tidied" if self.tidied else ""
        return f"spark-iceberg{twin}"

    @property
    def sinks(self) -> tuple[str, ...]:
        return (self.sink, self.listed)

    @property
    def says(self) -> str:
        if self.guard == "none":
            return (
                "PySpark foreachBatch that appends each micro-batch to an Iceberg table: the "
                "broken twin. Its snapshots do not name their batch, so a batch can be repeated."
            )
        says = (
            "PySpark into an Iceberg table by Iceberg's own streaming sink. Each micro-batch is "
            "one snapshot whose summary names query and epoch; an epoch that a snapshot names is "
            "skipped."
        )
        if self.tidied:
            return (
                f"{says} The broken twin: at each start, manifests are rewritten and older "
                "snapshots expire, with the epochs that they name."
            )
        return f"{says} Readers that list the data files have no guarantee."

    view = VIEW
    output_topic = None

    def command(self, place: JobPlace) -> list[str]:
        return [
            str(JOBS / "iceberg_sink.py"),
            *("--bootstrap", place.source_bootstrap, "--topic", place.topic),
            *("--warehouse", str(self._warehouse(place.work))),
            *("--checkpoint", str(place.checkpoint), "--progress", str(place.progress)),
            *("--guard", self.guard),
            *(("--tidy",) if self.tidied else ()),
        ]

    def needs_jar(self, name: str) -> bool:
        return True

    def sink_log(self, work: Path) -> Path:
        return self._table(work) / METADATA

    def open_sink(self, *, database: str, reader: LogReader, work: Path) -> Sink:
        return IcebergTable(self._table(work), topic=self.topic, sink=self.sink, listed=self.listed)

    def _warehouse(self, work: Path) -> Path:
        return work / self.sink

    def _table(self, work: Path) -> Path:
        return self._warehouse(work) / "payments"
