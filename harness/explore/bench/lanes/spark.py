"""A query of PySpark that writes the records of a trial, with a fee, elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Final, Literal

from onceproof.checkers import Claim, at_least_once, exactly_once
from onceproof.harness.explore.bench.lanes.base import in_turn
from onceproof.harness.explore.bench.lanes.payments import PaymentsLane
from onceproof.harness.explore.bench.lanes.spark_windows import SparkWindows
from onceproof.harness.history.writer import HistoryWriter
from onceproof.harness.kafka.connecting.connection import JAVA, LIBRDKAFKA, VARIABLE
from onceproof.harness.kafka.group_offsets import Commit
from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.processes.processes import Processes
from onceproof.harness.sinks.base import Sink
from onceproof.harness.sinks.files import LISTING
from onceproof.harness.subjects.spark.checkpoint import Checkpoint
from onceproof.harness.subjects.spark.classes import with_classes
from onceproof.harness.subjects.spark.crash_points import (
    AFTER_COMMIT,
    AFTER_OFFSET_LOG,
    AFTER_SINK_WRITE,
    BEFORE_SINK_COMMIT,
    DURING_SINK_WRITE,
    Window,
)
from onceproof.harness.subjects.spark.driver import start_driver
from onceproof.harness.subjects.spark.file_sink import SparkFileSink
from onceproof.harness.subjects.spark.foreach_batch_kafka import SparkForeachBatchKafka
from onceproof.harness.subjects.spark.history import atomic_positions
from onceproof.harness.subjects.spark.kafka_sink import SparkKafkaSink
from onceproof.harness.subjects.spark.sink_of_batches import SinkOfBatches
from onceproof.harness.subjects.spark.subject import JobPlace
from onceproof.harness.tools.setup import Tools
from onceproof.harness.wait import Stop

Job = Literal[
    "file-sink",
    "file-sink-listed",
    "foreachbatch-kafka",
    "foreachbatch-kafka-unguarded",
    "kafka-sink",
]
_LISTED: Final = "file-sink-listed"
"""The file sink, as readers see it that list its directory."""
SparkJob = SparkFileSink | SparkForeachBatchKafka | SparkKafkaSink
_WHOLE: Final = (AFTER_OFFSET_LOG, AFTER_SINK_WRITE, AFTER_COMMIT)
_WINDOWS: Final[Mapping[Job, tuple[Window, ...]]] = {
    "file-sink": (*_WHOLE, DURING_SINK_WRITE, BEFORE_SINK_COMMIT),
    _LISTED: (*_WHOLE, DURING_SINK_WRITE, BEFORE_SINK_COMMIT),
    "foreachbatch-kafka": _WHOLE,
    "foreachbatch-kafka-unguarded": _WHOLE,
    "kafka-sink": (*_WHOLE, DURING_SINK_WRITE),
}
"""Windows by job: a transaction is in the sink as a whole, and only files have a log."""
_PATIENCE: Final = {"request.timeout.ms": "3000", "reconnect.backoff.max.ms": "500"}
"""Of Spark's own clients: a lost message would otherwise take half a minute."""


def job_of(kind: Job, lane: str, *, source: str = "") -> SparkJob:
    """Return a job with the names of a lane."""
    if kind == "file-sink":
        return SparkFileSink(sink=lane, listed=f"{lane}-listed", topic=source)
    if kind == _LISTED:
        return SparkFileSink(sink=f"{lane}-logged", listed=lane, topic=source)
    if kind == "kafka-sink":
        return SparkKafkaSink(sink=lane)
    return SparkForeachBatchKafka(
        sink=lane,
        batches=f"{lane}batches",
        transactional_id=lane,
        guard="none" if kind == "foreachbatch-kafka-unguarded" else "query-and-batch-id",
    )


@dataclass(frozen=True, kw_only=True)
class _Parts:
    """What a driver of a lane is started with."""

    tools: Tools
    processes: Processes
    work: Path
    stop: Stop
    address: str = "127.0.0.1"


@dataclass(kw_only=True)
class SparkLane(PaymentsLane):
    """A query, restarted from its own checkpoint.

    Its offsets are those of its checkpoint. The names of its clients are connection properties,
    which the jobs take from the environment.
    """

    role: ClassVar[str] = "query"
    comes_back_by: ClassVar[str] = "ListOffsets"
    kind: Job

    def client_ids(self, life: int) -> str:
        return f"{self.name}-{life}-*"

    @cached_property
    def job(self) -> SparkJob:
        return job_of(self.kind, self.name, source=self.source)

    @property
    def topics(self) -> Mapping[str, int]:
        written = {self.job.output_topic, getattr(self.job, "batches", None)} - {None}
        return {self.source: super().topics[self.source], **{str(t): 1 for t in written}}

    def claims(self) -> Sequence[Claim]:
        claim: Callable[..., Claim] = at_least_once if self.kind == "kafka-sink" else exactly_once
        view = LISTING if self.kind == _LISTED else self.job.view
        return [claim(self.source, into=self.name, view=view)]

    @cached_property
    def _parts(self) -> _Parts:
        around = self.around
        work = around.work / self.name
        work.mkdir()
        return _Parts(tools=around.tools, processes=around.processes, work=work, stop=around.stop)

    @cached_property
    def checkpoint(self) -> Checkpoint:
        found = Checkpoint(self._parts.work / "checkpoint")
        found.create()
        return found

    @cached_property
    def _options(self) -> tuple[str, ...]:
        return with_classes(self._parts)

    def prepare(self, reader: LogReader) -> None:
        """Record the class archive if it does not exist, which takes longer than a trial."""
        super().prepare(reader)
        self._options  # noqa: B018

    @cached_property
    def windows(self) -> SparkWindows:
        work = self._parts.work
        log = self.job.sink_log(work)
        if log is not None:
            log.mkdir(parents=True)
        return SparkWindows(
            _WINDOWS[self.kind],
            checkpoint=self.checkpoint,
            sink_log=log,
            sink=SinkOfBatches(
                lambda: self.checkpoint, reader=self.around.reader, open_sink=self.open_sink
            ),
            driver=lambda: self.lives[-1] if self.lives else None,
        )

    def over(self) -> bool:
        self.windows.check()
        return super().over()

    def start(self) -> None:
        self.windows.begin()
        client_id, parts = f"{self.name}-{len(self.lives) + 1}", self._parts
        place = JobPlace(
            source_bootstrap=self.around.bootstrap,
            sink_bootstrap=self.around.bootstrap,
            database="",
            topic=self.source,
            checkpoint=self.checkpoint.folder,
            progress=parts.work / "progress.jsonl",
            work=parts.work,
        )
        self.lives.append(
            start_driver(
                parts,
                parts.processes,
                self.job.command(place),
                options=self._options,
                jars=self.job.jars(parts.tools),
                name=client_id,
                environment={VARIABLE: str(self._connecting(client_id))},
            )
        )

    def _connecting(self, client_id: str) -> Path:
        """Return a folder with the connection properties of a life."""
        folder = self._parts.work / client_id
        folder.mkdir()
        for file, properties in (
            (JAVA, {"client.id": f"{client_id}-spark", **_PATIENCE}),
            (LIBRDKAFKA, {"client.id": f"{client_id}-sink"}),
        ):
            lines = (f"{name}={value}\n" for name, value in properties.items())
            (folder / file).write_text("".join(lines))
        return folder

    def _offsets_so_far(self) -> Mapping[int, int]:
        """Return the ends of the newest batch in the commit log."""
        committed = self.checkpoint.committed()
        ends = self.checkpoint.end_of(committed[-1]) if committed else {}
        return {partition: end for (_, partition), end in ends.items()}

    def positions(self, reader: LogReader) -> list[Commit]:
        """Return the end offsets of the committed batches."""
        return [
            Commit(topic=topic, partition=partition, offset=offset, transactional=False)
            for batch in self.checkpoint.committed()
            for (topic, partition), offset in self.checkpoint.end_of(batch).items()
        ]

    def collect(self, writer: HistoryWriter, reader: LogReader) -> None:
        """Write also the positions that the sink records together with the effects."""
        super().collect(writer, reader)
        writer.write_all("positions", atomic_positions(self.checkpoint, self.open_sink(reader)))

    def perceived(self) -> str:
        ends = [life.ended for life in self.lives if not life.ending and not life.leader_alive()]
        return in_turn(ends) or "committed"

    def open_sink(self, reader: LogReader) -> Sink:
        return self.job.open_sink(database="", reader=reader, work=self._parts.work)

    def expected(self) -> Iterable[Mapping[str, Any]]:
        return self.expected_of(self.job)
