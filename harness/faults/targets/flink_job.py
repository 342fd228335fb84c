"""A Flink job.

In a window of a checkpoint, the fault stays armed until it has hit. The transaction coordinators
prove the window once the job is dead: the checkpoint's transactions are open. If the checkpoint was
complete, only the next instance can commit them: that is the hazard.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Final

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.base import Injection
from onceproof.harness.faults.flink.jobs import (
    job,
    transactions_of,
    wait_another,
    wait_completes,
    wait_decided,
)
from onceproof.harness.faults.targets.base import Verb, Victim
from onceproof.harness.faults.targets.ended import EndedProcess
from onceproof.harness.faults.targets.paused_processes import PausedProcesses
from onceproof.harness.kafka.coordinator import Refused
from onceproof.harness.kafka.transactions import ENDING, ONGOING
from onceproof.harness.subjects.crash_point_trigger import StruckProcess
from onceproof.harness.subjects.flink.crash_point_trigger import FlinkCrashPointTrigger, open_of
from onceproof.harness.subjects.flink.crash_points import CHECKPOINT_COMPLETE, WINDOWS, Window
from onceproof.harness.subjects.flink.subject import JOB
from onceproof.harness.wait import wait_until

IN_DOUBT: Final = "checkpoint-in-doubt"
"""A checkpoint was complete and its transactions open when its job was killed."""
_UNDECIDED: Final = ENDING | {ONGOING}


@dataclass(frozen=True, kw_only=True)
class FlinkJob(Victim):
    """The job; it is restarted from its last checkpoint, as its operator does."""

    written: ClassVar[str] = "flink-job"
    example: ClassVar[str] = "flink-job"
    windows: ClassVar[Mapping[Verb, Mapping[str, str]]] = {
        "kill": {name: window.says for name, window in WINDOWS.items()}
    }
    outage: float = 0.0
    """Maximum seconds to stay down; over once its transactions are decided."""

    def describe(self) -> str:
        return "the Flink job"

    def needs(self, verb: Verb, at: str | None) -> str | None:
        return JOB

    def moment(self, verb: Verb, at: str | None) -> str:
        words = super().moment(verb, at)
        return (
            f"{words or 'at once'}; it stays down for up to {self.outage:g} s"
            if self.outage
            else words
        )

    def kill(self, context: RunContext, name: str, at: str | None) -> Injection:
        if at is None:
            return _Killed(context, name)
        return _KilledInWindow(context, name, WINDOWS[at], self.outage)

    def stop(self, context: RunContext, name: str, at: str | None) -> Injection:
        """Send SIGTERM, without a savepoint: transactions stay open until the job restarts."""
        stop = partial(job(context).stop, f"SIGTERM by fault «{name}»")
        return EndedProcess(stop, partial(_restart, context))

    def pause(self, context: RunContext, name: str, at: str | None) -> Injection:
        """Pause it, possibly during a checkpoint; no other instance replaces it."""
        job_ = job(context)

        return PausedProcesses(
            context,
            lambda: [job_.pause()],
            done=lambda: job_.commits,
            nothing="no checkpoint was completed",
            heal=partial(wait_another, context),
        )


def _restart(context: RunContext) -> None:
    job(context).start()
    wait_completes(context)


class _Killed:
    def __init__(self, context: RunContext, name: str) -> None:
        self._context = context
        self._job = job(context)
        process = self._job.running()
        self.target = process.instance
        self._count = process.members()
        self.at = now()
        self._job.kill(f"SIGKILL by fault «{name}»")

    def evidence(self) -> str | None:
        return f"{self.target} and all its {self._count} processes ended by signal 9"

    def heal(self) -> None:
        _restart(self._context)


class _KilledInWindow:
    def __init__(self, context: RunContext, name: str, window: Window, outage: float) -> None:
        self._context = context
        self._name = name
        self._window = window
        self._outage = outage
        self._job = job(context)
        self.target = "job"
        self.at: int | None = None

        def strike() -> None:
            self._job.kill(f"SIGKILL by fault «{name}»")

        self._trigger = FlinkCrashPointTrigger(
            window,
            job=self._job,
            look=partial(transactions_of, context),
            strike=strike,
            stop=context.stop,
        )
        self._proof: str | None = None

    def evidence(self) -> str | None:
        if self._trigger.error is not None:
            raise self._trigger.error
        hit = self._trigger.hit
        if self._proof is None and hit is not None:
            self.target = hit.process.instance
            self.at = hit.at
            if self._is_still_open(hit):
                self._proof = self._describe(hit)
        return self._proof

    def heal(self) -> None:
        """Restart it; wait for a checkpoint, and until the open transactions are decided."""
        self._trigger.end()
        hit = self._trigger.hit
        if hit is None:
            return  # it was never killed
        if not self._job.alive():
            self._stay_down(hit)
            self._job.start()
        wait_completes(self._context)
        if not hit.open or self._window is not CHECKPOINT_COMPLETE:
            return
        final = wait_decided(self._context, hit.open, undecided=_UNDECIDED)
        if self._proof is not None:  # otherwise they may have been decided before it died
            self._context.recorder.hazard(
                IN_DOUBT,
                hop="process",
                fault=self._name,
                owner=self._job.name,
                batch=hit.number,
                at=hit.at,
                detail=(
                    f"checkpoint {hit.number} was complete and its transactions open when "
                    f"{self.target} was killed; their final state: {final}"
                ),
            )

    def _is_still_open(self, hit: StruckProcess) -> bool:
        """Whether the transactions are open, once nothing of the job is in flight any more."""
        if not hit.open:
            return True
        if self._context.stage.connected("pipeline-sink"):
            return False
        try:
            states = transactions_of(self._context)
        except (OSError, Refused):
            return False
        return open_of(states, self._job.name, hit.number) == hit.open

    def _stay_down(self, hit: StruckProcess) -> None:
        """Wait until the outage is over, or its transactions are decided."""
        if not self._outage:
            return
        until = hit.at + int(self._outage * 1e9)

        def over() -> bool:
            if now() >= until:
                return True
            try:
                states = transactions_of(self._context)
            except (OSError, Refused):
                return False
            return bool(hit.open) and all(states.get(i) not in _UNDECIDED for i in hit.open)

        wait_until(
            over,
            what="the outage to end",
            seconds=self._outage + 10,
            every=0.1,
            stop=self._context.stop,
        )

    def _describe(self, hit: StruckProcess) -> str:
        missed = f", after {hit.misses} missed attempts" if hit.misses else ""
        opened = f", with its transactions {', '.join(hit.open)} open" if hit.open else ""
        return (
            f"{self.target} and all its {hit.processes} processes ended by signal 9; checkpoint "
            f"{hit.number} {self._window.seen}{opened}{missed}"
        )
