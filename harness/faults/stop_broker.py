"""A broker asked to end, as an upgrade does it; restarted when it is gone.

The one thing to know: Kafka hands over what a broker leads before it ends. A leadership that moves
only after the end was not handed over, so it proves nothing here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from harness.bench import Aftermath, Bench
from harness.clock import now
from harness.faults.back import Restart
from harness.faults.by_hand import ByHand, broker
from harness.faults.majority import Majority
from harness.faults.targets import Target


@dataclass(frozen=True, kw_only=True)
class StopBroker:
    """SIGTERM a broker and wait for its end."""

    kind: ClassVar[str] = "crash"
    needs: ClassVar[str | None] = "stop"
    target: Target

    def describe(self) -> str:
        """The act in words."""
        return f"SIGTERM {self.target.describe()}"

    def inject(self, bench: Bench, name: str) -> _Stopped:
        """Ask it, and wait for its end."""
        return _Stopped(bench, self.target.resolve(bench), name)


BY_HAND: Final = ByHand(
    name="stop",
    takes=("TARGET",),
    says="SIGTERM a broker, which hands over what it leads; it is restarted when healed",
    make=lambda who: StopBroker(target=broker(who)),
)


class _Stopped:
    def __init__(self, bench: Bench, node: str, name: str) -> None:
        self._restart = Restart(bench, node)
        majority = Majority(bench, node)
        self.target = majority.target
        self.at = now()
        end = bench.stage.shut_down(node, f"SIGTERM by fault «{name}»")
        word = majority.took_it_out(self.at)
        self._proof = f"{end}; {word}" if word else None

    def evidence(self) -> str | None:
        """Its exit status, and what the others said the moment it had ended."""
        return self._proof

    def heal(self) -> None:
        """Restart it and wait until it is in sync wherever it has a replica."""
        self._restart()

    def aftermath(self, known: Aftermath) -> None:
        """Nothing more to say."""
