"""Crash points of a Flink checkpoint, all observed from outside.

A checkpoint is complete when `_metadata` has been renamed into `chk-N`; only then are the sink's
transactions committed. A job killed earlier restarts from the previous checkpoint, and its
transactions are aborted; one killed later must commit them in its next life.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Sign = Literal["begun", "flushed", "complete"]
"""The folder exists, `_metadata` is being written, `_metadata` exists."""


@dataclass(frozen=True, kw_only=True)
class Window:
    """One crash point.

    Attributes:
        name: its name in a fault's `at`.
        says: completes the sentence «SIGKILL the Flink job …».
        sign: shows that the window has begun; no later sign appears while it lasts.
        seen: completes the sentence «the checkpoint …».
    """

    name: str
    says: str
    sign: Sign
    seen: str


CHECKPOINT_BEGUN: Final = Window(
    name="checkpoint-begun",
    says="after a checkpoint has begun, before all tasks have flushed",
    sign="begun",
    seen="had begun but was not complete",
)
CHECKPOINT_FLUSHED: Final = Window(
    name="checkpoint-flushed",
    says="after all tasks have flushed for a checkpoint, before it is complete",
    sign="flushed",
    seen="was flushed but not complete",
)
CHECKPOINT_COMPLETE: Final = Window(
    name="checkpoint-complete",
    says="after a checkpoint is complete, before its transactions are committed",
    sign="complete",
    seen="was complete",
)
WINDOWS: Final = {
    window.name: window for window in (CHECKPOINT_BEGUN, CHECKPOINT_FLUSHED, CHECKPOINT_COMPLETE)
}
