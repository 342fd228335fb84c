"""All brokers at once: killed, as when the power fails, asked to end, or paused.

Nobody is left to take over, so nothing moves. What was acknowledged has to
be on disk, or in the memory of the machine, which outlives a process and not the power.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.cluster.rejoin import Restart, wait_back
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.stage.base import Stage


class _AllBrokers:
    def __init__(
        self, context: RunContext, act: Callable[[str], str], *, paused_too: bool = False
    ) -> None:
        """Act on each, side by side, if none is missing; `act` says what shows that it was done."""
        self._context = context
        self._brokers = context.stage.brokers
        there = context.stage.alive if paused_too else context.answers
        if missing := [node for node in self._brokers if not there(node)]:
            raise StageTrouble(f"{', '.join(missing)} does not run, or is paused: expected all")
        self.target = ", ".join(self._brokers)
        self.at = now()
        try:
            with ThreadPoolExecutor(len(self._brokers)) as pool:
                self._done = list(pool.map(act, self._brokers))
        except BaseException:
            self.undo()
            raise

    def undo(self) -> None:
        """Let those go on that it was done to, when it could not be done to all."""

    def evidence(self) -> str | None:
        """What was done to each, and that nobody answers any more."""
        with ThreadPoolExecutor(len(self._brokers)) as pool:
            views = self._context.views().values()
            if any(pool.map(lambda view: view.brokers(), views)):
                return None
        return f"{'; '.join(self._done)}; no broker answers"

    def _side_by_side(self, heals: Iterable[Callable[[], None]]) -> None:
        """At once, because one alone has no quorum."""
        with ThreadPoolExecutor(len(self._brokers)) as pool:
            for done in [pool.submit(heal) for heal in heals]:
                done.result()


class EndedBrokers(_AllBrokers):
    """Every broker made to end."""

    def __init__(
        self, context: RunContext, end: Callable[[str], str], *, paused_too: bool = False
    ) -> None:
        super().__init__(context, end, paused_too=paused_too)
        self._restarts = [Restart(context, node) for node in self._brokers]

    def undo(self) -> None:
        gone = [node for node in self._brokers if not self._context.stage.alive(node)]
        self._side_by_side([Restart(self._context, node) for node in gone])

    def heal(self) -> None:
        self._side_by_side(self._restarts)


def ask_to_end(stage: Stage, node: str, how: str) -> str:
    """Ask a broker to end, as a deployment does, which kills what has not ended after a while.

    One that ends as the last can hand over nothing, and may wait for a controller for minutes.
    """
    try:
        return stage.shut_down(node, how)
    except StageTrouble as error:
        if stage.alive(node):
            raise
        return str(error)


class PausedBrokers(_AllBrokers):
    """Every broker paused."""

    def __init__(self, context: RunContext) -> None:
        super().__init__(context, context.stage.pause)

    def evidence(self) -> str | None:
        """Their states, and that nobody answers any more."""
        stage = self._context.stage
        return super().evidence() if all(map(stage.paused, self._brokers)) else None

    def undo(self) -> None:
        self.heal()

    def heal(self) -> None:
        stage = self._context.stage
        for node in filter(stage.paused, self._brokers):
            stage.resume(node)
        self._side_by_side(partial(wait_back, self._context, node) for node in self._brokers)
