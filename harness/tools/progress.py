"""Progress reports of the set-up, from several threads; the caller prints them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Step:
    """One progress report about one tool."""

    tool: str
    message: str
    done: int | None = None
    total: int | None = None
    finished: bool = False

    @property
    def text(self) -> str:
        counted = f" ({self.done} of {self.total})" if self.total else ""
        return f"{self.tool}: {self.message}{counted}"


Progress = Callable[[Step], None]


def silent(step: Step) -> None: ...


def one_at_a_time(progress: Progress) -> Progress:
    """Wrap a callback so that only one thread calls it at a time."""
    lock = threading.Lock()

    def forward(step: Step) -> None:
        with lock:
            progress(step)

    return forward


def by_quarters(progress: Progress) -> Progress:
    """Wrap a callback so that it gets a tool's message only if it is new or a quarter further.

    The wrapper is for one thread at a time.
    """
    last: dict[str, tuple[str, int]] = {}

    def forward(step: Step) -> None:
        quarter = 4 * (step.done or 0) // step.total if step.total else 0
        if last.get(step.tool) != (step.message, quarter):
            last[step.tool] = (step.message, quarter)
            progress(step)

    return forward
