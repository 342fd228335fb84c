"""Applications of Kafka Streams and jobs of Flink."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from onceproof.harness.explore.bench.lanes.base import Lane, Surroundings
from onceproof.harness.explore.bench.lanes.flink import FlinkLane
from onceproof.harness.explore.bench.lanes.streams import StreamsLane
from onceproof.harness.explore.bench.subjects.base import Subject, Twin
from onceproof.harness.explore.bench.subjects.groups import NOT_REWOUND
from onceproof.harness.explore.exploration import Load


@dataclass(frozen=True, kw_only=True)
class StreamsSubject(Subject):
    """An application of Kafka Streams, exactly-once."""

    lanes: ClassVar[int] = 2

    @property
    def runtimes(self) -> frozenset[str]:
        return frozenset({"kafka-clients"})

    @property
    def name(self) -> str:
        return "kafka-streams"

    @property
    def says(self) -> str:
        return "Kafka Streams, exactly_once_v2, one instance"

    @property
    def twin(self) -> Twin:
        return NOT_REWOUND

    def lane(self, name: str, load: Load, around: Surroundings) -> Lane:
        return StreamsLane(name=name, load=load, around=around, client="java")


@dataclass(frozen=True, kw_only=True)
class FlinkSubject(Subject):
    """A Flink job, exactly-once."""

    lanes: ClassVar[int] = 2

    @property
    def runtimes(self) -> frozenset[str]:
        return frozenset({"flink"})

    @property
    def name(self) -> str:
        return "flink"

    @property
    def says(self) -> str:
        return "Apache Flink, DeliveryGuarantee.EXACTLY_ONCE, a job with one task"

    @property
    def twin(self) -> Twin:
        return NOT_REWOUND

    def lane(self, name: str, load: Load, around: Surroundings) -> Lane:
        return FlinkLane(name=name, load=load, around=around, client="java")
