"""An application of Kafka Streams that writes the records of a trial, with a fee, elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import ClassVar

from onceproof.harness.explore.bench.lanes.copier import PARTITIONS, CopierLane
from onceproof.harness.explore.bench.lanes.reader import Input
from onceproof.harness.processes.processes import Process
from onceproof.harness.subjects.kafka_streams import KafkaStreams, StreamsTask, program_of


@dataclass(kw_only=True)
class StreamsLane(CopierLane):
    """One instance of an application with `processing.guarantee=exactly_once_v2`.

    It commits by the clock, so the input comes in parts, each when the one before is committed.
    """

    role: ClassVar[str] = "streams"
    _left: Iterator[Input] | None = field(default=None, init=False)

    def client_ids(self, life: int) -> str:
        return f"{self.name}-{life}-*"

    def _begin(self, member: str, client_id: str) -> Process:
        task = StreamsTask(
            **self._places(client_id),
            state=str(self.around.work / f"state-{self.name}"),
            settings=KafkaStreams().settings,
        )
        return self._start(task, program_of(self.around.tools, self.around.work))

    def next_part(self) -> Sequence[Input]:
        """Return as many inputs as make a transaction in each partition."""
        if self._left is None:
            self._left = iter(self._inputs())
        return list(islice(self._left, self.load.records * PARTITIONS))
