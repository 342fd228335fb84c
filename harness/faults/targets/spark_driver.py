"""The Spark driver with all processes of its session: the JVM, executors, Python workers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Final

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.base import Injection
from onceproof.harness.faults.spark.between_batches import start_again
from onceproof.harness.faults.spark.driver import driver, wait_reads
from onceproof.harness.faults.targets.base import Verb, Victim
from onceproof.harness.faults.targets.ended import EndedProcess
from onceproof.harness.faults.targets.paused_processes import PausedProcesses
from onceproof.harness.faults.targets.spark_driver_row import KilledAtRow
from onceproof.harness.faults.targets.spark_driver_window import KilledInWindow
from onceproof.harness.settle import settle
from onceproof.harness.subjects.spark.crash_points import WINDOWS
from onceproof.harness.subjects.spark.subject import DRIVER

IDLE: Final = "idle"
_ROW: Final = "row:"


@dataclass(frozen=True, kw_only=True)
class SparkDriver(Victim):
    """The driver of a subject or of your own Spark job.

    Windows: those of `onceproof.harness.subjects.spark.crash_points`, `idle`, and `row:<n>`, which
    is after n rows of a batch, for a job with a hook for it.
    """

    written: ClassVar[str] = "driver"
    example: ClassVar[str] = "driver"
    windows: ClassVar[Mapping[Verb, Mapping[str, str]]] = {
        "kill": {
            **{name: window.says for name, window in WINDOWS.items()},
            IDLE: "while it is idle",
            f"{_ROW}<n>": "when its job has written n rows of a batch",
        }
    }

    def describe(self) -> str:
        return "the Spark driver"

    def needs(self, verb: Verb, at: str | None) -> str | None:
        return DRIVER

    def moment(self, verb: Verb, at: str | None) -> str:
        if verb == "kill" and at is not None and (row := _row(at)) is not None:
            return f"when its job has written {row} rows of a batch"
        return super().moment(verb, at)

    def kill(self, context: RunContext, name: str, at: str | None) -> Injection:
        if at is None:
            return _Killed(context, name)
        if at == IDLE:
            context.producers.pace.hurry()
            settle(context)
            return _Killed(context, name)
        if (row := _row(at)) is not None:
            return KilledAtRow(context, row, name)
        return KilledInWindow(context, name, WINDOWS[at])

    def stop(self, context: RunContext, name: str, at: str | None) -> Injection:
        """Send SIGTERM to the Python process; what is left of its session is killed afterwards."""
        stop = partial(driver(context).stop, f"SIGTERM by fault «{name}»")
        return EndedProcess(stop, partial(start_again, context))

    def pause(self, context: RunContext, name: str, at: str | None) -> Injection:
        driver_ = driver(context)
        return PausedProcesses(
            context,
            lambda: [driver_.pause()],
            done=lambda: driver_.last_committed,
            nothing="no micro-batch was committed",
            heal=partial(wait_reads, context),
        )


def _row(at: str) -> int | None:
    """Return the row of `row:<n>`, None for other windows; raise `ValueError` if it is invalid."""
    if not at.startswith(_ROW):
        return None
    number = at.removeprefix(_ROW)
    if not (number.isascii() and number.isdigit() and int(number) >= 1):
        raise ValueError(f"invalid window {at!r}: expected row:1, row:2 …")
    return int(number)


class _Killed:
    def __init__(self, context: RunContext, name: str) -> None:
        self._context = context
        self._driver = driver(context)
        process = self._driver.process
        self.target = process.instance if process else "driver"
        self.at = now()
        self._count = self._driver.kill(f"SIGKILL by fault «{name}»")

    def evidence(self) -> str | None:
        return f"{self.target} and all its {self._count} processes ended by signal 9"

    def heal(self) -> None:
        start_again(self._context)
