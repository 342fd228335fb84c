"""Executors of a Spark driver, which lives on and starts others.

What a lost task had sent is sent again by its next attempt. What Spark says
of sinks is about micro-batches, and this is within one: a sink that takes what tasks send as it
comes shows it twice, though no batch was replayed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final, Literal, Self

from onceproof.harness.clock import now
from onceproof.harness.faults.base import Injection
from onceproof.harness.faults.driver import driver, wait_reads
from onceproof.harness.faults.executors import Executors, sigkill
from onceproof.harness.faults.targets.base import Verb, Victim
from onceproof.harness.run_context import Collected, RunContext
from onceproof.harness.stage.base import StageTrouble
from onceproof.harness.subjects.spark_subject import EXECUTORS
from onceproof.harness.wait import wait_until

Which = Literal["one", "all"]
_WORDS: Final[dict[str, Which]] = {"executor": "one", "executors": "all"}


@dataclass(frozen=True, kw_only=True)
class SparkExecutors(Victim):
    """Executors that are processes of their own.

    Attributes:
        which: the one with the least id, or all.
    """

    written: ClassVar[str] = "executor, executors"
    example: ClassVar[str] = "executor"
    which: Which = "one"

    @classmethod
    def parse(cls, word: str) -> Self | None:
        return cls(which=_WORDS[word]) if word in _WORDS else None

    def describe(self) -> str:
        return "an executor of Spark's" if self.which == "one" else "all executors of Spark's"

    def needs(self, verb: Verb, at: str | None) -> str | None:
        return EXECUTORS

    def kill(self, context: RunContext, name: str, at: str | None) -> Injection:
        """SIGKILL them; lost tasks are tried again by others."""
        return _Killed(context, self.which, name)


class _Killed:
    def __init__(self, context: RunContext, which: Which, name: str) -> None:
        self._context = context
        self._name = name
        self._executors = Executors(context)
        self._before = self._executors.found()
        if not self._before:
            raise StageTrouble(
                f"{self._executors.process.instance} has no processes for executors: only a "
                "subject with a master such as local-cluster[2,1,512] has"
            )
        victims = sorted(self._before)
        self._victims = victims[:1] if which == "one" else victims
        words = ", ".join(f"executor {number}" for number in self._victims)
        self.target = f"{words} of {self._executors.process.instance}"
        self.at = now()
        for number in self._victims:
            sigkill(self._before[number])
        self._proof: str | None = None

    def evidence(self) -> str | None:
        """That they are gone and how, as Spark tells, and who came instead."""
        if self._proof is None:
            there = self._executors.found()
            instead = sorted(there.keys() - self._before.keys())
            codes = self._executors.codes()
            if (
                there.keys().isdisjoint(self._victims)
                and len(instead) >= len(self._victims)
                and all(codes.get(number) == _KILLED for number in self._victims)
            ):
                seconds = (now() - self.at) / 1e9
                self._proof = (
                    f"{self.target} ended with code {_KILLED}, as Spark tells; after "
                    f"{seconds:.1f} s there were executors {', '.join(map(str, instead))}"
                )
        return self._proof

    def heal(self) -> None:
        """Wait until there are as many executors as before, and the driver reads."""
        wait_until(
            lambda: len(self._executors.found()) >= len(self._before),
            what=f"{len(self._before)} executors",
            seconds=90,
            stop=self._context.stop,
            seen=self._executors.found,
        )
        wait_reads(self._context)

    def after_collect(self, known: Collected) -> None:
        """Tasks that were lost with them, which the driver may tell late, were tried again."""
        if lost := self._executors.lost_tasks(self._victims):
            self._context.recorder.hazard(
                "retried-task",
                hop="process",
                fault=self._name,
                owner=driver(self._context).checkpoint.query_id(),
                at=self.at,
                detail=f"{lost} tasks were lost with {self.target}, and had to be tried again",
            )


_KILLED: Final = 128 + 9
"""What a process that ended by signal 9 is said to have ended with."""
