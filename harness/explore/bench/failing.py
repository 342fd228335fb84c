"""How a broker fails in a convoy, and how it is mended."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Final, Protocol

from onceproof.harness.explore.acts import Breaks
from onceproof.harness.links.disturbances import CUT
from onceproof.harness.links.topology import Link
from onceproof.harness.stage.local import LocalStage


class Failing(Protocol):
    """A broker that is to fail."""

    @property
    def broker(self) -> str: ...

    def fail(self) -> None:
        """Let it fail; when this returns it does not work."""

    def mend(self) -> None:
        """Undo it, if it failed."""


class _Killed:
    """It is killed, and started again."""

    def __init__(self, stage: LocalStage, broker: str) -> None:
        self.broker, self._stage = broker, stage

    def fail(self) -> None:
        self._stage.kill(self.broker, "killed while requests are on their way to it")

    def mend(self) -> None:
        if not self._stage.alive(self.broker):
            self._stage.restart(self.broker)


class _Isolated:
    """Its connections to its peers are cut; clients still reach it."""

    def __init__(self, stage: LocalStage, broker: str) -> None:
        self.broker, self._stage = broker, stage
        self._holds = ExitStack()

    def fail(self) -> None:
        peers = [node for node in self._stage.brokers if node != self.broker]
        for source, target in (
            (a, b) for p in peers for a, b in ((self.broker, p), (p, self.broker))
        ):
            self._holds.enter_context(self._stage.disturb(Link(source, target), CUT))

    def mend(self) -> None:
        self._holds.close()


FAILING: Final[Mapping[Breaks, Callable[[LocalStage, str], Failing]]] = {
    "killed": _Killed,
    "isolated": _Isolated,
}
