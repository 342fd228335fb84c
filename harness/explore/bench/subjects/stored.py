"""Consumers that store their offsets in a database."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from onceproof.harness.explore.bench.lanes.base import Lane, Surroundings
from onceproof.harness.explore.bench.lanes.stored import StoredLane
from onceproof.harness.explore.bench.subjects.base import Subject, Twin, struck
from onceproof.harness.explore.exploration import Load
from onceproof.harness.subjects.stored.subject import StoringConsumers


@dataclass(frozen=True, kw_only=True)
class StoredSubject(Subject):
    """A consumer that stores its offsets in the transaction of its effects, in a database.

    Attributes:
        commits: `after` for the broken twin, which commits its offsets in Kafka, after the effects.
    """

    lanes: ClassVar[int] = 8
    lane_of: type[StoredLane]
    commits: Literal["in-transaction", "after"] = "in-transaction"

    @property
    def runtimes(self) -> frozenset[str]:
        return self._consumers.runtimes

    @property
    def name(self) -> str:
        return self._consumers.name

    @property
    def _consumers(self) -> StoringConsumers:
        return StoringConsumers(kind=self.lane_of.kind, commits=self.commits)

    @property
    def says(self) -> str:
        return f"librdkafka, effects and offsets in one transaction of {self.lane_of.kind}"

    @property
    def twin(self) -> Twin:
        """With offsets in Kafka, a kill between the effects and their offsets causes duplicates."""
        return Twin(
            subject=replace(self, commits="after"),
            trial=struck(
                "client killed before"
                " @ consumer/request/OffsetCommit/commit/first/group-coordinator",
                ends=1,
                ended_by="OffsetCommit",
            ),
            load=Load(transactions=3),
        )

    def lane(self, name: str, load: Load, around: Surroundings) -> Lane:
        return self.lane_of(
            name=name, load=load, around=around, client="librdkafka", commits=self.commits
        )
