"""The interface of workloads: what each producer sends, and the effects that records must have.

A workload is frozen data, and the seed determines everything, so that the expected effects can be
computed before the run, independently of the code under test.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import Field
from typing import Any, ClassVar, Protocol

from onceproof.harness.workload.contributions import Transforms
from onceproof.harness.workload.task_file import SenderRecord


class Workload(Protocol):
    """What a run sends: a frozen dataclass, whose fields the report prints."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def records(self) -> int:
        """Number of records, over all producers."""

    @property
    def producers(self) -> int:
        """Number of producers."""

    @property
    def partitions(self) -> int:
        """Partitions of each topic."""

    @property
    def topic(self) -> str:
        """The topic that the pipeline reads."""

    @property
    def topics(self) -> tuple[str, ...]:
        """All topics that records are sent to, `topic` first."""

    @property
    def rate(self) -> int:
        """Records per second, over all producers, while faults are active."""

    @property
    def transaction(self) -> int:
        """Records per transaction; 0: no transactions."""

    @property
    def trickle(self) -> float:
        """Maximum fraction of `rate` that is still sent at the limit of `Pace`."""

    @property
    def sentinels(self) -> int:
        """Number of last records that are sent only after everything else has settled."""

    @property
    def rounds(self) -> int:
        """Number of rounds of sentinels, each sent after the previous one has settled."""

    def sends(self, *, producer: int, seed: int) -> Iterator[SenderRecord]:
        """Yield the records of one producer, in order."""

    def expected(
        self, subject: Transforms, *, producer: int, seed: int
    ) -> Iterator[dict[str, Any]]:
        """Yield rows of `expected`: the effects that a producer's records must have."""

    def contributed(
        self, subject: Transforms, *, producer: int, seed: int
    ) -> Iterator[dict[str, Any]]:
        """Yield rows of `contributions`: what a producer's records add to the subject's state."""
