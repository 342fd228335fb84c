"""Programs of users."""

from __future__ import annotations

from dataclasses import dataclass

from onceproof.checkers import Claim
from onceproof.harness.explore.bench.lanes.alone import AloneLane
from onceproof.harness.explore.bench.lanes.base import Lane, Surroundings
from onceproof.harness.explore.bench.lanes.program import PLACEHOLDERS, ProgramLane
from onceproof.harness.explore.bench.subjects.base import Subject, Twin
from onceproof.harness.explore.bench.subjects.groups import NOT_REWOUND
from onceproof.harness.explore.exploration import Load
from onceproof.harness.user_pipeline.subject import OwnPipeline


@dataclass(frozen=True, kw_only=True)
class ProgramSubject(Subject):
    """A user's program.

    Attributes:
        pipeline: the program, its input and its output as given by the user.
        claims: the claims about it.
    """

    pipeline: OwnPipeline
    claims: tuple[Claim, ...]

    @property
    def name(self) -> str:
        return "verify"

    @property
    def says(self) -> str:
        return self.pipeline.says

    @property
    def alone(self) -> bool:
        return not self.pipeline.asked.issuperset(PLACEHOLDERS)

    @property
    def twin(self) -> Twin:
        return NOT_REWOUND

    def lane(self, name: str, load: Load, around: Surroundings) -> Lane:
        kind = AloneLane if self.alone else ProgramLane
        return kind(
            name=name, load=load, around=around, pipeline=self.pipeline, claimed=self.claims
        )
