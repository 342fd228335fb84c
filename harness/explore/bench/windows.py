"""Crash windows: what a client does between its messages, seen from outside.

A lane that can see such windows offers `Windows`. Each begins with a sign, such as a new file in a
checkpoint. The signs take their place in the trace among the messages, and one of them ends a unit,
so the client may be struck in a window as it may be at a message.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar, Final, Protocol

from onceproof.harness.explore.points import CHECKPOINT, WINDOW, Purpose
from onceproof.harness.links.gate.client import Event
from onceproof.harness.processes.processes import Process
from onceproof.harness.subjects.crash_point_trigger import StruckProcess
from onceproof.harness.wait import wait_until

_SIGN_SECONDS: Final = 5.0


@dataclass(frozen=True, kw_only=True)
class _Due:
    """What is to be done when a life has passed so many windows of a name."""

    life: int
    window: str
    count: int
    do: Callable[[], None]


class WindowTrigger(Protocol):
    """Holds a client, frozen or not, when it is in a window."""

    @property
    def hit(self) -> StruckProcess | None:
        """The client that is held; None before."""

    @property
    def error(self) -> Exception | None:
        """Why the window could not be examined; None if it could."""

    @property
    def misses(self) -> int:
        """How often the client was stopped outside the window."""

    def still_in_window(self) -> bool:
        """Whether the client, which has been struck, was still in its window."""

    def release(self) -> None:
        """Let a client go on that is held."""

    def end(self) -> None:
        """Disarm; `hit` is final when this returns."""


class Windows(ABC):
    """The windows of one lane, whose signs come from a thread of a subclass. Thread-safe."""

    ends: ClassVar[str]
    """The window whose sign ends a unit."""
    target: ClassVar[str] = CHECKPOINT
    """What the client changes in its windows."""

    def __init__(self, process: Callable[[], Process | None]) -> None:
        """`process` returns the newest life of the client."""
        self._newest = process
        self._life = 0
        self._passed: list[Event] = []
        self._counts: Counter[str] = Counter()
        self._due: list[_Due] = []
        self._lock = threading.Lock()

    @abstractmethod
    def arm(self, window: str) -> WindowTrigger:
        """Freeze the client when it is next in a window, and leave it there."""

    @abstractmethod
    def check(self) -> None:
        """Raise `StageTrouble` if signs are no longer seen."""

    @abstractmethod
    def close(self) -> None:
        """Take the signs that have come so far, and no others."""

    @property
    def life(self) -> int:
        """Number of the client's newest life, from 1."""
        return self._life

    def passed(self) -> list[Event]:
        """Return the windows that have begun so far, in order, as events like those of gates."""
        with self._lock:
            return list(self._passed)

    def begin(self) -> None:
        """Take all signs from now on for those of a next life."""
        with self._lock:
            self._life += 1
            self._counts.clear()
            due = self._take_due()
        for each in due:
            each.do()

    def when(self, life: int, window: str, count: int, do: Callable[[], None]) -> None:
        """Do something once a life has passed a window so many times: with 0, when it begins.

        The client is frozen meanwhile, so that it does not run ahead.
        """
        with self._lock:
            self._due.append(_Due(life=life, window=window, count=count, do=do))

    def note(
        self, window: str, *, number: int, purpose: Purpose, at: int, life: int | None = None
    ) -> None:
        """Note that a window began, by default in the newest life.

        `number` tells it from others of its name in that life, as that of a micro-batch does.
        """
        with self._lock:
            life = life or self._life
            self._counts[window] += life == self._life
            self._passed.append(
                {
                    "direction": WINDOW,
                    "api": window,
                    "target": self.target,
                    "purpose": purpose,
                    "life": life,
                    "at": at,
                    "ends": window == self.ends,
                    "client_id": None,
                    "producer": None,
                    # What makes it another one than those before.
                    "link": self.target,
                    "connection": life,
                    "correlation_id": number,
                }
            )
            due = self._take_due()
        if due:
            self._do(due)

    def _take_due(self) -> list[_Due]:
        due = [
            each
            for each in self._due
            if each.life == self._life and each.count <= self._counts[each.window]
        ]
        self._due = [each for each in self._due if each not in due]
        return due

    def _do(self, due: Iterable[_Due]) -> None:
        process = self._newest()
        # One that is frozen in its window must stay there.
        runs = process is not None and process.leader_alive() and not process.frozen()
        if process is not None and runs:
            process.freeze()
        try:
            for each in due:
                each.do()
        finally:
            if process is not None and runs:
                process.thaw()


class ArmedWindow:
    """A fault that waits for its window."""

    def __init__(self, windows: Windows, window: str) -> None:
        self._windows, self._window = windows, window
        self._trigger: WindowTrigger | None = None
        self._met: list[Event] = []
        self._life = 0
        self._removed = False
        self._lock = threading.Lock()

    def arm(self) -> None:
        with self._lock:
            if not self._removed:
                self._life = self._windows.life
                self._trigger = self._windows.arm(self._window)

    def met(self) -> list[Event]:
        """Return the event of the window in which the client is frozen; none before."""
        hit = self._trigger.hit if self._trigger else None
        if hit is not None and not self._met:
            wanted = (self._window, hit.number, self._life)
            found = (
                event
                for event in self._windows.passed()
                if (event["api"], event["correlation_id"], event["life"]) == wanted
            )
            # The next life, which does the same again, does not begin before this is found.
            self._met = list(found)[-1:]
        return self._met

    def not_met(self) -> str:
        """Return why the client did not stop in the window."""
        trigger = self._trigger
        if trigger is None:
            return "without the window"
        if trigger.error is not None:
            return f"and its window could not be examined: {trigger.error}"
        return f"and was out of the window each of the {trigger.misses} times when it was stopped"

    def left(self) -> str | None:
        """Return why a client that was struck had left its window; None if it had not."""
        if self._trigger is not None and self._trigger.still_in_window():
            return None
        return f"it had left the window {self._window} when it was struck"

    def release(self) -> None:
        """Let a client go on that is held in the window."""
        if self._trigger is not None:
            self._trigger.release()

    def remove(self) -> None:
        """Disarm; what the trigger was about to strike is met when this returns."""
        with self._lock:
            self._removed = True
        if self._trigger is None:
            return
        self._trigger.end()
        if self._trigger.hit is not None:
            wait_until(
                self.met,
                what=f"the sign of the window {self._window}",
                seconds=_SIGN_SECONDS,
                every=0.01,
                seen=self._windows.passed,
            )
