"""One of several workers loses its partitions just before it commits offsets, and goes on.

A commit of offsets in a transaction must be refused then: others were given its partitions, and
have processed again what it had in hand. Its request is held on its way, and it stands still, until
the others have committed all that was in the input. Had its offsets arrived before, the others
would wait for its transaction, and nothing could come twice.
"""

from __future__ import annotations

import os
import signal
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import cycle, islice
from typing import ClassVar, Final

from harness.bench import Aftermath, Bench
from harness.clock import now
from harness.faults.evict_program import members, thaw, wait_several, workers
from harness.faults.message import AtGates, Message
from harness.faults.programs import at_work, input_ends, program, wait_works
from harness.own.program import PROGRAM
from harness.stage.base import StageTrouble
from harness.wait import Overdue, wait_until

_COMMIT_SECONDS: Final = 30.0
_OTHERS_SECONDS: Final = 5.0
"""How long others are waited for, to see whose transaction it is."""
_TRIES: Final = 8
"""Whose commit comes first is chance: of two workers it is the paused one every other time."""


@dataclass(frozen=True, kw_only=True)
class ZombieWorker:
    """Pause one of several workers at a commit of offsets, until others have done its work.

    Attributes:
        group: the workers' group id.
    """

    kind: ClassVar[str] = "timeout"
    needs: ClassVar[str | None] = PROGRAM
    group: str

    def describe(self) -> str:
        """What is done, for schedules and reports."""
        return (
            "pause one process of the pipeline before its offsets arrive, until it is expired in "
            f"group {self.group} and others have committed what it had"
        )

    @property
    def message(self) -> Message:
        """Its offsets, which say whose transaction it is."""
        return Message(
            source="pipeline", direction="request", api="TxnOffsetCommit", group=self.group
        )

    def inject(self, bench: Bench, name: str) -> _Zombie:
        """Pause it when it commits."""
        return _Zombie(bench, self)


class _Zombie:
    def __init__(self, bench: Bench, fault: ZombieWorker) -> None:
        self._bench, self._fault = bench, fault
        wait_several(bench, fault.group)
        at_work(bench)
        self._members = members(bench, fault.group)
        self._pid = 0
        self._offsets, self._id = self._caught()
        self.at = now()
        self._ends = input_ends(bench)
        self.target = f"process {self._pid} of {program(bench).kept.running().instance}"
        self._proof: str | None = None

    def _caught(self) -> tuple[AtGates, str]:
        """The gates that hold its offsets, and the id of its transactions; it stands still.

        Raises:
            StageTrouble: none of the commits was its.
            Overdue: nobody commits.
        """
        # One may have nothing to read, and never commit.
        for pid in islice(cycle(workers(self._bench)), _TRIES):
            self._pid = pid
            with ExitStack() as undo:
                offsets = AtGates(self._bench, "pipeline", self._fault.message.rule("hold"))
                undo.callback(offsets.remove)
                held = wait_until(
                    offsets.fired,
                    what=f"a commit of offsets to group {self._fault.group}",
                    seconds=_COMMIT_SECONDS,
                    every=0.005,
                    stop=self._bench.stop,
                )
                undo.callback(thaw, pid)
                os.kill(self._pid, signal.SIGSTOP)
                (id_,) = held[0]["transactional_ids"]
                if self._others_go_on(id_):
                    undo.pop_all()
                    return offsets, id_
        raise StageTrouble(f"none of {_TRIES} commits was of the process that was paused")

    def _others_go_on(self, id_: str) -> bool:
        """Whether others end transactions meanwhile, so that the one that is held is not theirs."""
        ends = Message(source="pipeline", direction="request", api="EndTxn")
        gates = AtGates(self._bench, "pipeline", ends.rule("report", times=None))
        try:
            return wait_until(
                lambda: any(id_ not in event["transactional_ids"] for event in gates.fired()),
                what="",
                seconds=_OTHERS_SECONDS,
                every=0.02,
                stop=self._bench.stop,
            )
        except Overdue:
            return False
        finally:
            gates.remove()

    def evidence(self) -> str | None:
        """That the group went on without it, over all that it may have had in hand."""
        if self._proof is not None:
            return self._proof
        left = members(self._bench, self._fault.group)
        committed = program(self._bench).look.groups.newest()
        topic = self._bench.topic
        if 0 < left < self._members and all(
            committed.get((topic, p), 0) >= end for p, end in self._ends.items()
        ):
            seconds = (now() - self.at) / 1e9
            self._proof = (
                f"{self.target} stood still for {seconds:.1f} s, offsets of {self._id} held; "
                f"group {self._fault.group} went from {self._members} members to {left}, which "
                "have committed all that was in the input"
            )
        return self._proof

    def heal(self) -> None:
        """Let it and its offsets go on, and see that the pipeline writes."""
        thaw(self._pid)
        self._offsets.remove()
        wait_works(self._bench)

    def aftermath(self, known: Aftermath) -> None:
        """Nothing shows only now."""
