"""Connectors of Kafka Connect."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from onceproof.harness.explore.acts import Single
from onceproof.harness.explore.bench.lanes.base import Lane, Surroundings
from onceproof.harness.explore.bench.lanes.connect import ConnectLane
from onceproof.harness.explore.bench.subjects.base import Subject, Twin
from onceproof.harness.explore.exploration import Load
from onceproof.harness.explore.points import Place
from onceproof.harness.explore.trials import Aimed, Trial
from onceproof.harness.subjects.connect.source import MirrorSource


@dataclass(frozen=True, kw_only=True)
class ConnectSubject(Subject):
    """A source connector of Kafka Connect.

    Attributes:
        exactly: whether exactly-once support is enabled.
    """

    lanes: ClassVar[int] = 2
    exactly: bool = True

    @property
    def runtimes(self) -> frozenset[str]:
        return frozenset({"connect"})

    @property
    def name(self) -> str:
        return MirrorSource(exactly=self.exactly).name

    @property
    def says(self) -> str:
        return "Kafka Connect, MirrorMaker's source with exactly-once support, one worker"

    @property
    def twin(self) -> Twin:
        """Without exactly-once support, a kill between records and offsets causes duplicates."""
        single = Single.parse("client killed after @ worker/response/Produce/work/first/leader")
        place = Place(life=1, nth=2)
        return Twin(
            subject=replace(self, exactly=False),
            trial=Trial(aimed=(Aimed(single=single, place=place),)),
            load=Load(transactions=3),
        )

    def lane(self, name: str, load: Load, around: Surroundings) -> Lane:
        return ConnectLane(name=name, load=load, around=around, client="java", exactly=self.exactly)
