"""PySpark's own file sink, read by its log and by a listing of its directory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.sinks.base import Sink
from onceproof.harness.sinks.files import LOG, Files
from onceproof.harness.subjects.spark.subject import JOBS, JobPlace, SparkSubject


@dataclass(frozen=True, kw_only=True)
class SparkFileSink(SparkSubject):
    """Kafka to Parquet files by `writeStream.format("parquet")`.

    One run is judged for two readers of the same folder.

    Attributes:
        sink: the files, for readers that follow `_spark_metadata`.
        listed: the files, for readers that list the directory.
    """

    sink: str = "files"
    listed: str = "directory"
    topic: str = "payments"

    @property
    def name(self) -> str:
        return "spark-file-sink"

    @property
    def sinks(self) -> tuple[str, ...]:
        return (self.sink, self.listed)

    @property
    def says(self) -> str:
        return (
            "PySpark's own file sink. It guarantees exactly-once for readers that follow its log, "
            "`_spark_metadata`, as Spark does; readers that list the directory have no guarantee."
        )

    view = LOG
    output_topic = None

    def command(self, place: JobPlace) -> list[str]:
        return [
            str(JOBS / "file_sink.py"),
            *("--bootstrap", place.source_bootstrap, "--topic", place.topic),
            *("--output", str(self._folder(place.work))),
            *("--checkpoint", str(place.checkpoint), "--progress", str(place.progress)),
        ]

    def sink_log(self, work: Path) -> Path:
        return self._folder(work) / LOG

    def open_sink(self, *, database: str, reader: LogReader, work: Path) -> Sink:
        return Files(self._folder(work), topic=self.topic, sink=self.sink, listed=self.listed)

    def _folder(self, work: Path) -> Path:
        return work / self.sink
