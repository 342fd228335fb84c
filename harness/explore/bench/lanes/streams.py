"""An application of Kafka Streams that writes the records of a trial, with a fee, elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from onceproof.harness.explore.bench.lanes.copier import CopierLane
from onceproof.harness.processes.processes import Process
from onceproof.harness.subjects.streams.kafka_streams import (
    KafkaStreams,
    KafkaStreamsTask,
    program_of,
)


@dataclass(kw_only=True)
class StreamsLane(CopierLane):
    """One instance of an application with `processing.guarantee=exactly_once_v2`.

    It commits by the clock, whatever it has read. It has no state to keep, so each life has a
    folder of its own: a paused one holds the lock on its folder.
    """

    role: ClassVar[str] = "streams"
    at_once: ClassVar[bool] = False

    def client_ids(self, life: int) -> str:
        return f"{self.name}-{life}-*"

    def _begin(self, member: str, client_id: str) -> Process:
        task = KafkaStreamsTask(
            **self._places(client_id),
            state=str(self.around.work / f"state-{client_id}"),
            settings=KafkaStreams().settings,
        )
        return self._start(task, program_of(self.around.tools, self.around.work))
