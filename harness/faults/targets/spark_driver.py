"""The Spark driver, with all processes of its session: the JVM, executors, Python workers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from onceproof.harness.clock import now
from onceproof.harness.faults.base import Injection
from onceproof.harness.faults.between_batches import start_again
from onceproof.harness.faults.driver import driver, wait_reads
from onceproof.harness.faults.targets.base import Verb, Victim
from onceproof.harness.faults.targets.spark_driver_row import KilledAtRow
from onceproof.harness.faults.targets.spark_driver_window import KilledInWindow
from onceproof.harness.run_context import RunContext
from onceproof.harness.settle import settle
from onceproof.harness.subjects.spark_subject import DRIVER
from onceproof.harness.subjects.windows import WINDOWS

IDLE: Final = "idle"
_ROW: Final = "row:"


@dataclass(frozen=True, kw_only=True)
class SparkDriver(Victim):
    """The driver of a subject or of your own Spark job.

    Its windows are those of `onceproof.harness.subjects.windows`, `idle`, and `row:<n>`, for a job
    that has a hook for it: when it has written so many rows of a batch.
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
        """SIGKILL all its processes; restart it when all of them are gone."""
        if at is None:
            return _Killed(context, name)
        if at == IDLE:
            context.producers.hurry()
            settle(context)
            return _Killed(context, name)
        if (row := _row(at)) is not None:
            return KilledAtRow(context, row, name)
        return KilledInWindow(context, name, WINDOWS[at])

    def stop(self, context: RunContext, name: str, at: str | None) -> Injection:
        """SIGTERM to the Python process, as a deployment ends it.

        What is left of its session after that, such as a JVM that goes on with its batch, is killed
        in the end.
        """
        return _Stopped(context, name)

    def pause(self, context: RunContext, name: str, at: str | None) -> Injection:
        """Stop the whole session in its tracks; its connections stay, time goes on without it."""
        return _Paused(context)


def _row(at: str) -> int | None:
    """The row of `row:<n>`; None of any other window.

    Raises:
        ValueError: no batch has such a row.
    """
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
        """How many processes it took."""
        return f"{self.target} and all its {self._count} processes ended by signal 9"

    def heal(self) -> None:
        """Restart it and wait until its query runs."""
        start_again(self._context)


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
        start_again(self._context)


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
