"""Kills a Flink job in a window: it is stopped at the first sign, looked at, hit or let go.

What a job has sent before it stood still arrives all the same, and a commit
that was on its way may end a transaction a moment later. So its transactions are looked at until
two looks in a row agree, and the fault looks once more when the job is dead.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from onceproof.harness.clock import now
from onceproof.harness.kafka.coordinator import Refused
from onceproof.harness.kafka.transactions import ONGOING
from onceproof.harness.stage.processes import Process
from onceproof.harness.subjects.flink.job import FlinkJob
from onceproof.harness.subjects.flink.windows import Sign, Window
from onceproof.harness.wait import Interrupted, Overdue, Stop, wait_until

_EVERY: Final = 0.15
"""Seconds between two looks: a request needs some milliseconds, and its marker some more."""
_SECONDS: Final = 5.0

Look = Callable[[], Mapping[str, str]]
"""The job's transactional ids, and what the newest transaction of each is at."""


@dataclass(frozen=True, kw_only=True)
class Hit:
    """A job that was hit in a window.

    Attributes:
        checkpoint: whose window it was.
        process: the life that was hit.
        processes: how many processes that was.
        open: transactional ids of the checkpoint that were open.
        misses: how often it was stopped and let go before.
        at: when it was hit.
    """

    checkpoint: int
    process: Process
    processes: int
    open: tuple[str, ...]
    misses: int
    at: int


class FlinkCrashPointTrigger:
    """One job, one window."""

    def __init__(
        self, window: Window, *, job: FlinkJob, look: Look, strike: Callable[[], None], stop: Stop
    ) -> None:
        """Lie in wait from now on.

        Args:
            window: the moment.
            job: whose.
            look: asks the coordinators.
            strike: what is done to the job, which stands still.
            stop: ends waiting early when set.
        """
        self.hit: Hit | None = None
        self.error: Exception | None = None
        """What went wrong while it lay in wait; it is over then."""
        self._window = window
        self._job = job
        self._look = look
        self._strike = strike
        self._stop = stop
        self._misses = 0
        self._over = threading.Event()
        job.watch.on_sign = self._seen

    def end(self) -> None:
        """Lie in wait no longer."""
        self._over.set()
        self._job.watch.on_sign = None

    def _seen(self, sign: Sign, life: str, number: int) -> None:
        """Told by the watch, whose thread stands still as long as the job does."""
        if self._over.is_set() or life != self._job.life or sign != self._window.sign:
            return
        process = self._job.process
        if process is None or not process.leader_alive():
            return
        try:
            process.pause(self._stop)
            still = self._job.sign_of(number) == self._window.sign
            found = self._open(number) if still else None
            if found is None or (self._job.transactional and not found):
                self._misses += 1
                process.thaw()
                return
            processes = process.members()
            self._strike()
        except (Interrupted, Exception) as error:
            process.thaw()
            self.error = error if isinstance(error, Exception) else None
            self.end()
            return
        self.end()
        self.hit = Hit(
            checkpoint=number,
            process=process,
            processes=processes,
            open=found,
            misses=self._misses,
            at=process.ended_at or now(),
        )

    def _open(self, number: int) -> tuple[str, ...] | None:
        """The checkpoint's open transactions; None if some are not, or nobody says."""
        if not self._job.transactional:
            return ()
        last: Mapping[str, str] | None = None

        def agreed() -> Mapping[str, str] | None:
            nonlocal last
            before, last = last, dict(self._look())
            return last if before == last else None

        try:
            told = wait_until(agreed, what="", seconds=_SECONDS, every=_EVERY, stop=self._stop)
        except (Overdue, OSError, Refused):
            return None  # a coordinator is away: this is no moment to hit it
        return open_of(told, self._job.name, number)


def open_of(told: Mapping[str, str], name: str, number: int) -> tuple[str, ...] | None:
    """Which transactions of a checkpoint are open; None if one of them has ended.

    A transactional id is the job's name, the number of a task, and that of the checkpoint that
    flushes it. Tasks without records have no transaction.
    """
    of = {
        ident: state
        for ident, state in told.items()
        if ident.startswith(f"{name}-") and ident.rpartition("-")[2] == str(number)
    }
    found = tuple(sorted(ident for ident, state in of.items() if state == ONGOING))
    return found if all(state in (ONGOING, "Empty") for state in of.values()) else None
