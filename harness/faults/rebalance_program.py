"""A rebalance of the pipeline's consumer group without any failure: a member joins, then leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from harness.bench import Aftermath, Bench
from harness.clock import now
from harness.faults.other_member import OtherMember
from harness.faults.programs import at_work, wait_works
from harness.own.program import PROGRAM


@dataclass(frozen=True, kw_only=True)
class RebalanceProgram:
    """Let a member of our own join the pipeline's group, take partitions, and leave.

    Attributes:
        group: its group id.
        assignors: that its members offer.
        protocol: `classic` or `consumer`.
        phase: how long after a write it joins; see `at_work`.
    """

    kind: ClassVar[str] = "timeout"
    needs: ClassVar[str | None] = PROGRAM
    group: str
    assignors: tuple[str, ...] = ()
    protocol: str = "classic"
    phase: float = 0.0

    def describe(self) -> str:
        """The act in words."""
        return f"rebalance group {self.group}: another member joins, takes partitions and leaves"

    def inject(self, bench: Bench, name: str) -> _Rebalanced:
        """Join when the pipeline is at work."""
        at_work(bench, self.phase)
        return _Rebalanced(bench, self)


class _Rebalanced:
    def __init__(self, bench: Bench, fault: RebalanceProgram) -> None:
        self._bench = bench
        self.target = f"group {fault.group}"
        self.at = now()
        self._other = OtherMember(bench, fault.group, fault.assignors, fault.protocol)
        self._proof: str | None = None

    def evidence(self) -> str | None:
        """Which partitions went to the other member."""
        if self._proof is None and (taken := self._other.partitions):
            named = ", ".join(f"{topic}-{partition}" for topic, partition in sorted(taken))
            self._proof = f"another member joined {self.target} and was assigned {named}"
        return self._proof

    def heal(self) -> None:
        """Leave, and see that the pipeline writes."""
        self._other.leave()
        wait_works(self._bench)

    def aftermath(self, known: Aftermath) -> None:
        """Nothing shows only now."""
