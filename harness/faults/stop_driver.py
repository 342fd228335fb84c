"""SIGTERM to the Spark driver, as a deployment ends it; started again when healed.

The Python process is asked; what is left of its session after that, such as
a JVM that goes on with its batch, is killed in the end.
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
class StopDriver:
    """SIGTERM to the driver; restart it when all of it is gone."""

    kind: ClassVar[str] = "crash"
    needs: ClassVar[str | None] = DRIVER

    def describe(self) -> str:
        return "SIGTERM to the Spark driver"

    def inject(self, context: RunContext, name: str) -> _Stopped:
        """Ask it to end."""
        return _Stopped(context, name)


BY_HAND: Final = ByHand(
    name="stop-driver",
    takes=(),
    example="stop-driver",
    says="ask the Spark driver to end (SIGTERM); it is started again when healed",
    make=StopDriver,
)


class _Stopped:
    def __init__(self, context: RunContext, name: str) -> None:
        self._context = context
        self._driver = driver(context)
        self.at = now()
        self._process = self._driver.stop(f"SIGTERM by fault «{name}»")
        self.target = self._process.instance

    def evidence(self) -> str | None:
        """Its end, and how all of it came to one."""
        return f"{self.target} {self._process.ended}: {self._process.how}"

    def heal(self) -> None:
        """Start it again, unless an earlier try did, and see that it reads."""
        if not self._driver.alive():
            self._driver.start()
        wait_reads(self._context)
