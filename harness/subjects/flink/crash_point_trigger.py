"""Strike a Flink job in a window of a checkpoint.

A commit that the job sent before it was stopped may still end a transaction. So transactions are
described until two successive answers agree, and again when the job is dead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from onceproof.harness.kafka.coordinator import Refused
from onceproof.harness.kafka.transactions import ONGOING
from onceproof.harness.subjects.crash_point_trigger import CrashPointTrigger
from onceproof.harness.subjects.flink.crash_points import Sign, Window
from onceproof.harness.subjects.flink.job import FlinkJob
from onceproof.harness.wait import Overdue, Stop, wait_until

_EVERY: Final = 0.15
"""Seconds between two queries: a request takes some milliseconds, and its marker some more."""
_SECONDS: Final = 5.0

Look = Callable[[], Mapping[str, str]]
"""Return the job's transactional ids and the state of each one's newest transaction."""


class FlinkCrashPointTrigger(CrashPointTrigger):
    """Strikes one job in one window."""

    def __init__(
        self, window: Window, *, job: FlinkJob, look: Look, strike: Callable[[], None], stop: Stop
    ) -> None:
        """Arm the trigger; `look` asks the coordinators, `strike` hits the stopped job."""
        self._window = window
        self._job = job
        self._coordinators = look
        self._stop = stop
        super().__init__(
            job.watch,
            process=lambda: job.process,
            halt=lambda process: process.pause(stop),
            strike=lambda _: strike(),
        )

    def _seen(self, sign: Sign, life: str, number: int) -> None:
        if life == self._job.life and sign == self._window.sign:
            self._try_strike(number)

    def _look(self, number: int) -> tuple[str, ...] | None:
        if self._job.sign_of(number) != self._window.sign:
            return None
        return self._open(number) or (None if self._job.transactional else ())

    def _open(self, number: int) -> tuple[str, ...] | None:
        """Return the open transactions of the checkpoint; None if one has ended or is unknown."""
        if not self._job.transactional:
            return ()
        last: Mapping[str, str] | None = None

        def agreed() -> Mapping[str, str] | None:
            nonlocal last
            before, last = last, dict(self._coordinators())
            return last if before == last else None

        try:
            states = wait_until(agreed, what="", seconds=_SECONDS, every=_EVERY, stop=self._stop)
        except (Overdue, OSError, Refused):
            return None  # a coordinator is unavailable, so the window cannot be confirmed
        return open_of(states, self._job.name, number)


def open_of(states: Mapping[str, str], name: str, number: int) -> tuple[str, ...] | None:
    """Return the open transactions of a checkpoint; None if one of them has ended.

    A transactional id is `<job>-<subtask>-<checkpoint>`; idle subtasks have no transaction.
    """
    of = {
        ident: state
        for ident, state in states.items()
        if ident.startswith(f"{name}-") and ident.rpartition("-")[2] == str(number)
    }
    found = tuple(sorted(ident for ident, state in of.items() if state == ONGOING))
    return found if all(state in (ONGOING, "Empty") for state in of.values()) else None
