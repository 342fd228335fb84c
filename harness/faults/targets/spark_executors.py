"""Executors of a Spark driver, which keeps running and starts others.

A lost task's next attempt sends its records again, within the same micro-batch. Spark's guarantees
for sinks are about replayed micro-batches, so a sink that shows task output as it arrives
duplicates it.
"""

from __future__ import annotations

import signal
from dataclasses import dataclass
from typing import ClassVar, Final, Literal, Self

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import Collected, RunContext
from onceproof.harness.faults.base import Injection
from onceproof.harness.faults.spark.driver import driver, wait_reads
from onceproof.harness.faults.spark.executors import Executors, send
from onceproof.harness.faults.targets.base import Verb, Victim
from onceproof.harness.processes.processes import descendants, stand_still
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.subjects.spark.subject import EXECUTORS
from onceproof.harness.wait import wait_until

Which = Literal["one", "all"]
_WORDS: Final[dict[str, Which]] = {"executor": "one", "executors": "all"}


@dataclass(frozen=True, kw_only=True)
class SparkExecutors(Victim):
    """Executors that are separate processes: the one with the lowest id, or all."""

    written: ClassVar[str] = "executor, executors"
    example: ClassVar[str] = "executor"
    which: Which = "one"

    @classmethod
    def parse(cls, word: str) -> Self | None:
        return cls(which=_WORDS[word]) if word in _WORDS else None

    def describe(self) -> str:
        return "a Spark executor" if self.which == "one" else "all Spark executors"

    def needs(self, verb: Verb, at: str | None) -> str | None:
        return EXECUTORS

    def kill(self, context: RunContext, name: str, at: str | None) -> Injection:
        return _Ended(context, self.which, name, signal.SIGKILL)

    def stop(self, context: RunContext, name: str, at: str | None) -> Injection:
        """Send SIGTERM without decommissioning: their tasks are lost too."""
        return _Ended(context, self.which, name, signal.SIGTERM)

    def pause(self, context: RunContext, name: str, at: str | None) -> Injection:
        """Pause them with their Python workers: their tasks do not end."""
        return _Paused(context, self.which)


class _Struck:
    """One or all executors of the running driver instance."""

    def __init__(self, context: RunContext, which: Which) -> None:
        self._context = context
        self._executors = Executors(context)
        self._before = self._executors.found()
        if not self._before:
            raise StageTrouble(
                f"{self._executors.process.instance} has no executor processes: expected a "
                "subject with a master such as local-cluster[2,1,512]"
            )
        victims = sorted(self._before)
        self._victims = victims[:1] if which == "one" else victims
        words = ", ".join(f"executor {number}" for number in self._victims)
        self.target = f"{words} of {self._executors.process.instance}"
        self.at = now()

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


class _Ended(_Struck):
    def __init__(self, context: RunContext, which: Which, name: str, sig: signal.Signals) -> None:
        super().__init__(context, which)
        self._name = name
        self._code = 128 + sig
        for number in self._victims:
            send(self._before[number], sig)
        self._proof: str | None = None

    def evidence(self) -> str | None:
        """Return the exit codes that Spark reports, and the new executors."""
        if self._proof is None:
            there = self._executors.found()
            instead = sorted(there.keys() - self._before.keys())
            codes = self._executors.codes()
            if (
                there.keys().isdisjoint(self._victims)
                and len(instead) >= len(self._victims)
                and all(codes.get(number) == self._code for number in self._victims)
            ):
                seconds = (now() - self.at) / 1e9
                self._proof = (
                    f"Spark reported that {self.target} exited with code {self._code}; after "
                    f"{seconds:.1f} s it had started executors {', '.join(map(str, instead))}"
                )
        return self._proof

    def after_collect(self, known: Collected) -> None:
        """Record tasks that were lost with them and retried; the driver may report them late."""
        if lost := self._executors.lost_tasks(self._victims):
            self._context.recorder.hazard(
                "retried-task",
                hop="process",
                fault=self._name,
                owner=driver(self._context).checkpoint.query_id(),
                at=self.at,
                detail=f"{lost} tasks were lost with {self.target}, and had to be retried",
            )


class _Paused(_Struck):
    """Paused executors. Only a delayed batch shows the effect."""

    def __init__(self, context: RunContext, which: Which) -> None:
        super().__init__(context, which)
        self._pids: list[int] = []
        wait_until(
            self._freeze,
            what=f"all processes of {self.target} to be paused",
            seconds=30,
            every=0.01,
            stop=context.stop,
        )
        self._since, self._batch = now(), driver(context).last_committed
        self._acknowledged = context.producers.acknowledged

    def evidence(self) -> str | None:
        """Return proof that all are stopped, and that a planned batch stays uncommitted."""
        batch = driver(self._context).last_committed
        acknowledged = self._context.producers.acknowledged
        if batch != self._batch:  # its tasks ran elsewhere
            self._since, self._batch, self._acknowledged = now(), batch, acknowledged
        waiting = self._waiting()
        missed, seconds = acknowledged - self._acknowledged, (now() - self._since) / 1e9
        if waiting is None or not missed or seconds < _HELD_UP_SECONDS:
            return None
        if not stand_still(self._pids):
            return None
        return (
            f"all {len(self._pids)} processes of {self.target} are paused; micro-batch "
            f"{waiting} was not committed for {seconds:.1f} s, during which {missed} records were "
            "acknowledged"
        )

    def heal(self) -> None:
        """Resume them, and wait until the driver reads and commits the planned batch."""
        for pid in self._pids:
            send(pid, signal.SIGCONT)
        super().heal()
        driver_ = driver(self._context)
        wait_until(
            lambda: driver_.last_committed != self._batch or self._waiting() is None,
            what="the driver to commit a micro-batch",
            seconds=150,
            stop=self._context.stop,
        )

    def _waiting(self) -> int | None:
        """Return the batch that is planned but not committed."""
        driver_ = driver(self._context)
        planned, committed = driver_.checkpoint.planned(), driver_.last_committed
        return (
            planned[-1]
            if planned and planned[-1] > (-1 if committed is None else committed)
            else None
        )

    def _freeze(self) -> bool:
        """Pause all their processes; repeated, because an executor may start a worker meanwhile."""
        self._pids = [pid for n in self._victims for pid in descendants(self._before[n])]
        for pid in self._pids:
            send(pid, signal.SIGSTOP)
        return stand_still(self._pids)


_HELD_UP_SECONDS: Final = 10.0
"""Far longer than a micro-batch takes."""
