"""All brokers killed, as when the power fails; restarted side by side.

Nobody is left to take over, so nothing moves. What was acknowledged has to
be on disk, or in the memory of the machine, which outlives a process and not the power.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from onceproof.harness.clock import now
from onceproof.harness.faults.back import Restart
from onceproof.harness.run_context import RunContext
from onceproof.harness.stage.base import StageTrouble


class KilledBrokers:
    """Every broker killed."""

    def __init__(self, context: RunContext, name: str) -> None:
        self._context = context
        brokers = context.stage.brokers
        if dead := [node for node in brokers if not context.stage.alive(node)]:
            raise StageTrouble(f"{', '.join(dead)} cannot be killed: it does not run")
        self.target = ", ".join(brokers)
        self.at = now()
        with ThreadPoolExecutor(len(brokers)) as pool:
            how = f"SIGKILL by fault «{name}»"
            self._deaths = list(pool.map(lambda node: context.stage.kill(node, how), brokers))
        self._restarts = [Restart(context, node) for node in brokers]

    def evidence(self) -> str | None:
        """Their exit signals, and that nobody answers any more."""
        if any(view.brokers() for view in self._context.views().values()):
            return None
        return f"{'; '.join(self._deaths)}; no broker answers"

    def heal(self) -> None:
        """Restart them at once, because one alone has no quorum, and wait until all are in sync."""
        with ThreadPoolExecutor(len(self._restarts)) as pool:
            for done in [pool.submit(restart) for restart in self._restarts]:
                done.result()
