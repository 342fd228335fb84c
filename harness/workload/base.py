"""What a workload is: who sends what, and what each record must come to.

It is frozen data, and everything about it follows from the seed, so that
what is expected can be written down before anything runs, apart from the code on trial.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import Field
from typing import Any, ClassVar, Protocol

from onceproof.harness.workload.contributions import Transforms
from onceproof.harness.workload.task_file import SenderRecord


class Workload(Protocol):
    """What is sent in a run; a frozen dataclass, whose fields are printed in the report."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def records(self) -> int:
        """How many records in all."""

    @property
    def producers(self) -> int:
        """How many producers share them."""

    @property
    def partitions(self) -> int:
        """Partitions of each topic."""

    @property
    def topic(self) -> str:
        """The topic that a pipeline reads."""

    @property
    def topics(self) -> tuple[str, ...]:
        """All topics that records go to, `topic` first."""

    @property
    def rate(self) -> int:
        """Records per second of all producers together, while faults are at work."""

    @property
    def transaction(self) -> int:
        """How many records are sent in one transaction; 0: there are none."""

    @property
    def trickle(self) -> float:
        """Part of `rate` that goes on while the records kept for faults to come run out."""

    @property
    def sentinels(self) -> int:
        """How many of the last records are sent only when all else has come to rest."""

    @property
    def rounds(self) -> int:
        """In how many rounds these are sent, each when all before it has come to rest."""

    def sends(self, *, producer: int, seed: int) -> Iterator[SenderRecord]:
        """What one producer sends, in order."""

    def expected(
        self, subject: Transforms, *, producer: int, seed: int
    ) -> Iterator[dict[str, Any]]:
        """The effects that one producer's records must have in the sinks of a subject, as rows of
        `expected`.
        """

    def contributed(
        self, subject: Transforms, *, producer: int, seed: int
    ) -> Iterator[dict[str, Any]]:
        """What one producer's records add to the state of a subject, as rows of
        `contributions`.
        """
