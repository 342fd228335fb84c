"""SIGKILL of a program of somebody's own, with everything that it started.

The one thing to know: it proves nothing of such a pipeline to kill it while it has nothing to do.
It is a hazard only if inputs were waiting for their effects when it died, and it had made some.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from harness.bench import Aftermath, Bench
from harness.clock import now
from harness.faults.by_hand import ByHand
from harness.faults.programs import at_work, program, wait_works
from harness.own.program import PROGRAM

KILLED_AT_WORK: Final = "killed-at-work"
"""Inputs were waiting for their effects when the program was killed."""


@dataclass(frozen=True, kw_only=True)
class KillProgram:
    """SIGKILL the program while it works; start it again."""

    kind: ClassVar[str] = "crash"
    needs: ClassVar[str | None] = PROGRAM

    def describe(self) -> str:
        """The act in words."""
        return "SIGKILL the pipeline while inputs wait for their effects"

    def inject(self, bench: Bench, name: str) -> _Killed:
        """Kill it when it is at work."""
        return _Killed(bench, name)


BY_HAND: Final = ByHand(
    name="kill-program",
    takes=(),
    example="kill-program",
    says="SIGKILL a pipeline of your own with all its processes; it is started again when healed",
    make=KillProgram,
)


class _Killed:
    def __init__(self, bench: Bench, name: str) -> None:
        self._bench = bench
        self._name = name
        self._program = program(bench)
        at_work(bench)
        process, self._count = self._program.kill(f"SIGKILL by fault «{name}»")
        self.target = process.instance
        self.at = now()
        self._done, self._there = self._program.look.done()
        if 0 < self._done < self._there:
            bench.recorder.hazard(
                KILLED_AT_WORK,
                hop="process",
                fault=name,
                detail=(
                    f"{self.target} was killed when {self._done} of {self._there} inputs had "
                    "effects"
                ),
            )

    def evidence(self) -> str | None:
        """How many processes it took, and how far it was."""
        return (
            f"{self.target} and all its {self._count} processes ended by signal 9; {self._done} of "
            f"{self._there} inputs had effects"
        )

    def heal(self) -> None:
        """Start it again, and see that it writes."""
        self._program.start()
        wait_works(self._bench)

    def aftermath(self, known: Aftermath) -> None:
        """Nothing more to say."""
