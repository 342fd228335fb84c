"""A broker asked to end, as an upgrade does it; restarted when it is gone.

Kafka hands over what a broker leads before it ends. A leadership that moves
only after the end was not handed over, so it proves nothing here.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import ClassVar, Final

from onceproof.harness.clock import now
from onceproof.harness.faults.back import Restart
from onceproof.harness.faults.by_hand import ByHand, broker
from onceproof.harness.faults.majority import Majority
from onceproof.harness.faults.targets import Target
from onceproof.harness.run_context import RunContext
from onceproof.harness.stage.base import SHUT_DOWN_SECONDS
from onceproof.harness.wait import wait_until


@dataclass(frozen=True, kw_only=True)
class StopBroker:
    """SIGTERM a broker and wait for its end."""

    kind: ClassVar[str] = "crash"
    needs: ClassVar[str | None] = "stop"
    target: Target

    def describe(self) -> str:
        return f"SIGTERM {self.target.describe()}"

    def inject(self, context: RunContext, name: str) -> _Stopped:
        """Ask it, and wait for its end."""
        return _Stopped(context, self.target.resolve(context), name)


BY_HAND: Final = ByHand(
    name="stop",
    takes=("TARGET",),
    example="stop broker-2",
    says="SIGTERM a broker, which hands over what it leads; it is restarted when healed",
    make=lambda who: StopBroker(target=broker(who)),
)


class _Stopped:
    def __init__(self, context: RunContext, node: str, name: str) -> None:
        self._restart = Restart(context, node)
        majority = Majority(context, node)
        self.target = majority.target
        self.at = now()
        with ThreadPoolExecutor(1) as pool:
            end = pool.submit(context.stage.shut_down, node, f"SIGTERM by fault «{name}»")
            wait_until(
                lambda: majority.took_it_out(self.at) or end.done(),
                what=f"{node} to hand over what it leads, or to end",
                seconds=2 * SHUT_DOWN_SECONDS,
                stop=context.stop,
            )
            # Not later: one that did not hand over is missed some seconds after its end.
            word = majority.took_it_out(self.at)
        ended = end.result()
        self._proof = f"{ended}; {word}" if word else None

    def evidence(self) -> str | None:
        """Its exit status, and what the others said before its end, or the moment it had ended."""
        return self._proof

    def heal(self) -> None:
        """Restart it and wait until it is in sync wherever it has a replica."""
        self._restart()
