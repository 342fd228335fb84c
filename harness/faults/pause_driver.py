"""The Spark driver paused: it misses what happens, and goes on as if nothing had.

Its whole session stands still, the JVM and its Python workers too; its
connections stay, and time goes on without it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from onceproof.harness.clock import now
from onceproof.harness.faults.by_hand import ByHand
from onceproof.harness.faults.driver import driver, wait_reads
from onceproof.harness.run_context import RunContext
from onceproof.harness.subjects.spark_subject import DRIVER


@dataclass(frozen=True, kw_only=True)
class PauseDriver:
    """Stop the driver's whole session in its tracks."""

    kind: ClassVar[str] = "timeout"
    needs: ClassVar[str | None] = DRIVER

    def describe(self) -> str:
        return "pause the Spark driver"

    def inject(self, context: RunContext, name: str) -> _Paused:
        """Pause it."""
        return _Paused(context)


BY_HAND: Final = ByHand(
    name="pause-driver",
    takes=(),
    example="pause-driver",
    says="pause the Spark driver with all its processes",
    make=PauseDriver,
)


class _Paused:
    def __init__(self, context: RunContext) -> None:
        self._context = context
        self.at = now()
        self._driver = driver(context)
        self._process = self._driver.pause()
        self.target = self._process.instance
        self._batch = self._driver.last_committed
        self._acknowledged = context.producers.acknowledged

    def evidence(self) -> str | None:
        """That it stands still, and what it has missed meanwhile."""
        missed = self._context.producers.acknowledged - self._acknowledged
        committed = self._driver.last_committed != self._batch
        if not missed or committed or not self._process.frozen():
            return None
        return (
            f"all {self._process.members()} processes of {self.target} stand still; meanwhile "
            f"{missed} records were acknowledged and no micro-batch was committed"
        )

    def heal(self) -> None:
        """Let it go on, and see that it reads."""
        self._process.thaw()
        wait_reads(self._context)
