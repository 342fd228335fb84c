"""Processes of the pipeline that stand still, while records go on coming in."""

from __future__ import annotations

from collections.abc import Callable

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.processes.processes import Process


class StandingStill:
    """They were paused, and go on when healed."""

    def __init__(
        self,
        context: RunContext,
        pause: Callable[[], list[Process]],
        *,
        done: Callable[[], object] = lambda: None,
        nothing: str = "",
        heal: Callable[[], None],
    ) -> None:
        """Pause them.

        Args:
            pause: does that, and returns them.
            done: what does not change while they stand still, such as the newest commit.
            nothing: that it did not, in words.
            heal: sees that they work when they go on.
        """
        self._context, self._done, self._nothing, self._heal = context, done, nothing, heal
        self.at = now()
        self._processes = pause()
        self.target = ", ".join(process.instance for process in self._processes)
        self._first: tuple[object, int] | None = None

    def evidence(self) -> str | None:
        """That they stand still, and what they have missed since the first look.

        What was on its way to a broker when they were paused has arrived by then.
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
            f"all {count} processes of {self.target} stand still; meanwhile {missed} records were "
            f"acknowledged{self._nothing and f' and {self._nothing}'}"
        )

    def heal(self) -> None:
        for process in self._processes:
            process.thaw()
        self._heal()
