"""Pause the pipeline until its group has reassigned its partitions, and resume it.

It has unprocessed records. Its partitions go to another process of its own, or to a member of ours,
which reads nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.cluster.coordinated import group_of
from onceproof.harness.faults.group_members import GroupMembers
from onceproof.harness.faults.program.other_member import CLIENT, OtherMember
from onceproof.harness.faults.program.programs import at_work, program, wait_works
from onceproof.harness.faults.program.several import described, freeze, thaw, wait_several, workers
from onceproof.harness.user_pipeline.program import PROGRAM


@dataclass(frozen=True, kw_only=True)
class EvictProgram:
    """Pause the pipeline, or one of its processes, until its group has reassigned its partitions.

    Attributes:
        one_of_several: pause one of the processes that are connected to brokers, not all.
        at_once: remove it from the group as an administrator would, without waiting for its session
            timeout.
        phase: how long after a write to pause it; see `at_work`.
    """

    kind: ClassVar[str] = "timeout"
    needs = PROGRAM
    group: str
    assignors: tuple[str, ...] = ()
    protocol: str = "classic"
    one_of_several: bool = False
    at_once: bool = False
    phase: float = 0.0

    def describe(self) -> str:
        who = "one process of the pipeline" if self.one_of_several else "the pipeline"
        when = "is removed from" if self.at_once else "times out of"
        return (
            f"pause {who} until it {when} group {self.group} and another member has its partitions"
        )

    def inject(self, context: RunContext, name: str) -> _Pipeline | _OneProcess:
        return _OneProcess(context, self) if self.one_of_several else _Pipeline(context, self)


class _Pipeline:
    def __init__(self, context: RunContext, fault: EvictProgram) -> None:
        self._context, self._fault = context, fault
        self._all = {
            (p.topic, p.partition) for topic in context.inputs for p in context.partitions(topic)
        }
        at_work(context, fault.phase)
        self._process = program(context).pause()
        try:
            # Only now: the new member may become group leader, and some clients do not understand
            # the subscriptions of another library's members.
            self._other = OtherMember(context, fault.group, fault.assignors, fault.protocol)
        except BaseException:
            self._process.thaw()
            raise
        self.at = now()
        self.target = self._process.instance
        self._removed = False
        self._proof: str | None = None

    def evidence(self) -> str | None:
        if self._proof is None and self._process.frozen():
            if self._fault.at_once and not self._removed:
                with group_of(self._context, self._fault.group) as group:
                    group.remove_members(but=CLIENT)
                self._removed = True
            if self._other.partitions >= self._all:
                seconds = (now() - self.at) / 1e9
                self._proof = (
                    f"{self.target} was paused for {seconds:.1f} s; meanwhile group "
                    f"{self._fault.group} assigned all its partitions to another member"
                )
        return self._proof

    def heal(self) -> None:
        self._process.thaw()
        self._other.leave()
        wait_works(self._context)


class _OneProcess:
    def __init__(self, context: RunContext, fault: EvictProgram) -> None:
        self._context, self._fault = context, fault
        self._group = GroupMembers(context, fault.group)
        wait_several(context, self._group)
        at_work(context, fault.phase)
        self._members = len(self._group.wait_stable())
        self._pid = max(workers(context))
        freeze(self._pid)
        self.at = now()
        self.target = described(context, self._pid)
        self._proof: str | None = None

    def evidence(self) -> str | None:
        left = self._members if self._proof else len(self._group.ids())
        if 0 < left < self._members:
            seconds = (now() - self.at) / 1e9
            self._proof = (
                f"{self.target} was paused for {seconds:.1f} s; group {self._fault.group} went "
                f"from {self._members} members to {left}, which have its partitions"
            )
        return self._proof

    def heal(self) -> None:
        thaw(self._pid)
        wait_works(self._context)
