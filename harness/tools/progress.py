"""How the set-up says how far it is. Several tools report at the same time, from several threads.

Nothing in this package prints; whoever calls decides what becomes of a
`Step`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Step:
    """One piece of news about one tool."""

    tool: str
    message: str
    done: int | None = None
    total: int | None = None
    finished: bool = False


Progress = Callable[[Step], None]


def silent(step: Step) -> None:
    """Say nothing."""


def one_at_a_time(progress: Progress) -> Progress:
    """Wrap a callback so that it need not care about threads."""
    lock = threading.Lock()

    def forward(step: Step) -> None:
        with lock:
            progress(step)

    return forward
