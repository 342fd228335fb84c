"""Queries of PySpark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from onceproof.harness.explore.bench.lanes.base import Lane, Surroundings
from onceproof.harness.explore.bench.lanes.spark import Job, SparkLane, job_of
from onceproof.harness.explore.bench.subjects.base import Subject, Twin
from onceproof.harness.explore.bench.subjects.groups import NOT_REWOUND
from onceproof.harness.explore.exploration import Load


@dataclass(frozen=True, kw_only=True)
class SparkQuery(Subject):
    """A PySpark query with its checkpoint."""

    lanes: ClassVar[int] = 2
    job: Job

    @property
    def runtimes(self) -> frozenset[str]:
        return frozenset({"spark"})

    @property
    def name(self) -> str:
        return f"spark-{self.job}"

    @property
    def says(self) -> str:
        return job_of(self.job, self.name).says

    @property
    def twin(self) -> Twin:
        return NOT_REWOUND

    def lane(self, name: str, load: Load, around: Surroundings) -> Lane:
        return SparkLane(name=name, load=load, around=around, kind=self.job)
