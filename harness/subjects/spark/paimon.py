"""PySpark into a Paimon table by Paimon's own streaming sink, with a primary key or without."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.sinks.base import Sink
from onceproof.harness.sinks.paimon import VIEW, PaimonTable
from onceproof.harness.subjects.spark.earlier_spark import EarlierSpark
from onceproof.harness.subjects.spark.subject import JOBS, JobPlace
from onceproof.harness.tools.jar_lock import PAIMON


@dataclass(frozen=True, kw_only=True)
class SparkPaimon(EarlierSpark):
    """A micro-batch is one snapshot of the table, which does not name it.

    Attributes:
        keyed: whether the table has a primary key, so that a repeated row replaces itself.
    """

    keyed: bool = True
    sink: str = "paimon-table"
    topic: str = "payments"

    @property
    def name(self) -> str:
        return "spark-paimon" if self.keyed else "spark-paimon-append"

    @property
    def says(self) -> str:
        if self.keyed:
            return (
                "PySpark into a Paimon table with a primary key, by Paimon's own streaming sink. A "
                "batch may be written again; its rows replace themselves."
            )
        return (
            "PySpark into a Paimon table without a primary key, by Paimon's own streaming sink: "
            "the broken twin. Its snapshots do not name their batch, so a batch can be repeated."
        )

    view = VIEW
    bundle = ("paimon", PAIMON)

    def command(self, place: JobPlace) -> list[str]:
        return [
            str(JOBS / "paimon_sink.py"),
            *("--bootstrap", place.source_bootstrap, "--topic", place.topic),
            *("--warehouse", str(self._warehouse(place.work))),
            *("--checkpoint", str(place.checkpoint), "--progress", str(place.progress)),
            *(("--keyed",) if self.keyed else ()),
        ]

    def open_sink(self, *, database: str, reader: LogReader, work: Path) -> Sink:
        table = self._warehouse(work) / "shop.db" / "payments"
        return PaimonTable(table, topic=self.topic, sink=self.sink)

    def _warehouse(self, work: Path) -> Path:
        return work / self.sink
