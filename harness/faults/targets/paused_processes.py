"""Pause processes of the pipeline while records keep arriving."""

from __future__ import annotations

from collections.abc import Callable

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.processes.processes import Process


class PausedProcesses:
    """Paused processes as an injection."""

    def __init__(
        self,
        context: RunContext,
        pause: Callable[[], list[Process]],
        *,
        done: Callable[[], object] = lambda: None,
        nothing: str = "",
        heal: Callable[[], None],
    ) -> None:
        """Pause the processes.

        Args:
            pause: pauses the processes and returns them.
            done: returns progress that must stop, such as the newest commit.
            nothing: says in words that it stopped.
            heal: waits until the resumed processes work.
        """
        self._context, self._done, self._nothing, self._heal = context, done, nothing, heal
        self.at = now()
        self._processes = pause()
        self.target = ", ".join(process.instance for process in self._processes)
        self._first: tuple[object, int] | None = None

    def evidence(self) -> str | None:
        """Return proof that they are paused, and what they missed since the first call.

        By the first call, requests in flight at the pause have arrived.
        """
        done, acknowledged = self._done(), self._context.producers.acknowledged
        if self._first is None:
            self._first = done, acknowledged
        missed = acknowledged - self._first[1]
        still = all(process.frozen() for process in self._processes)
        if not missed or done != self._first[0] or not still:
            return None
        count = sum(process.members() for process in self._processes)
        return (
            f"all {count} processes of {self.target} are paused; meanwhile {missed} records were "
            f"acknowledged{self._nothing and f' and {self._nothing}'}"
        )

    def heal(self) -> None:
        for process in self._processes:
            process.thaw()
        self._heal()
