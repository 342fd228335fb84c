"""Kill, stop or pause all brokers at once.

No leadership moves. Acknowledged records must be on disk, or in the page cache, which survives a
process but not a power failure.
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
        """Act on all brokers concurrently, if none is missing; `act` returns proof."""
        self._context = context
        self._brokers = context.stage.brokers
        runs = context.stage.alive if paused_too else context.answers
        if missing := [node for node in self._brokers if not runs(node)]:
            raise StageTrouble(
                f"not running, or paused: {', '.join(missing)}; expected all brokers to run"
            )
        self.target = ", ".join(self._brokers)
        self.at = now()
        try:
            with ThreadPoolExecutor(len(self._brokers)) as pool:
                self._done = list(pool.map(act, self._brokers))
        except BaseException:
            self.undo()
            raise

    def undo(self) -> None:
        """Undo the action on some brokers when it failed on others."""

    def evidence(self) -> str | None:
        """Return what was done to each broker, once none answers."""
        with ThreadPoolExecutor(len(self._brokers)) as pool:
            views = self._context.views().values()
            if any(pool.map(lambda view: view.brokers(), views)):
                return None
        return f"{'; '.join(self._done)}; no broker answers"

    def _in_parallel(self, heals: Iterable[Callable[[], None]]) -> None:
        """Heal concurrently, because a single broker has no quorum."""
        with ThreadPoolExecutor(len(self._brokers)) as pool:
            for done in [pool.submit(heal) for heal in heals]:
                done.result()


class EndedBrokers(_AllBrokers):
    """All brokers killed or stopped."""

    def __init__(
        self, context: RunContext, end: Callable[[str], str], *, paused_too: bool = False
    ) -> None:
        super().__init__(context, end, paused_too=paused_too)
        self._restarts = [Restart(context, node) for node in self._brokers]

    def undo(self) -> None:
        gone = [node for node in self._brokers if not self._context.stage.alive(node)]
        self._in_parallel([Restart(self._context, node) for node in gone])

    def heal(self) -> None:
        self._in_parallel(self._restarts)


def ask_to_end(stage: Stage, node: str, how: str) -> str:
    """Stop a broker as a deployment does: kill it if it has not ended after a while.

    The last broker can hand over nothing, and may wait minutes for a controller.
    """
    try:
        return stage.shut_down(node, how)
    except StageTrouble as error:
        if stage.alive(node):
            raise
        return str(error)


class PausedBrokers(_AllBrokers):
    """All brokers paused."""

    def __init__(self, context: RunContext) -> None:
        super().__init__(context, context.stage.pause)

    def evidence(self) -> str | None:
        stage = self._context.stage
        return super().evidence() if all(map(stage.paused, self._brokers)) else None

    def undo(self) -> None:
        self.heal()

    def heal(self) -> None:
        stage = self._context.stage
        for node in filter(stage.paused, self._brokers):
            stage.resume(node)
        self._in_parallel(partial(wait_back, self._context, node) for node in self._brokers)
