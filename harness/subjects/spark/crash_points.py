"""Crash points of a micro-batch, all observed from outside, so that the job needs no changes.

The driver is frozen at the sign that a window begins; commit log, state and sink then show whether
it is still in the window.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

Sign = Literal["planned", "state commit begun", "sink commit begun", "commit begun", "committed"]
"""Changes in a checkpoint: `offsets/N` exists, a partition of the state has batch N's version, the
sink's own log entry for batch N is being written, `commits/N` is being written, it exists."""


@dataclass(frozen=True, kw_only=True)
class Window:
    """One crash point.

    Attributes:
        name: its name in a fault's `at`.
        says: completes the sentence «SIGKILL the Spark driver …».
        sign: shows that the window has begun.
        committed: whether the commit log has the batch in the window.
        growing: whether the window begins only when the sink grows after the sign.
        holds: given the number of the batch's records with effects in the sink, and the number of
            its records, return whether this is the window.
        state: given the number of the state's partitions with the batch's version, and the number
            of partitions, return whether this is the window.
    """

    name: str
    says: str
    sign: Sign
    committed: bool = False
    growing: bool = False
    holds: Callable[[int, int], bool]
    state: Callable[[int, int], bool] = lambda done, partitions: True


AFTER_OFFSET_LOG: Final = Window(
    name="after-offset-log",
    says="after a batch is in the offset log, before any of it is in the sink",
    sign="planned",
    holds=lambda present, planned: present == 0 < planned,
)
DURING_SINK_WRITE: Final = Window(
    name="during-sink-write",
    says="when only part of a batch is in the sink",
    sign="planned",
    growing=True,
    holds=lambda present, planned: 0 < present < planned,
)
DURING_STATE_COMMIT: Final = Window(
    name="during-state-commit",
    says="when only some partitions of the state have a batch",
    sign="state commit begun",
    # The sink may have any part of the batch: this window is about torn state.
    holds=lambda present, planned: planned > 0,
    state=lambda done, partitions: 0 < done < partitions,
)
BEFORE_SINK_COMMIT: Final = Window(
    name="before-sink-commit",
    says="after all of a batch is written, before the sink's own log has an entry for it",
    sign="sink commit begun",
    holds=lambda present, planned: present > 0,
)
AFTER_SINK_WRITE: Final = Window(
    name="after-sink-write",
    says="after the sink's write and before the batch's commit",
    sign="commit begun",
    holds=lambda present, planned: present > 0,
)
AFTER_COMMIT: Final = Window(
    name="after-commit",
    says="after a batch is committed, before the next one is planned",
    sign="committed",
    committed=True,
    holds=lambda present, planned: present > 0,
)
WINDOWS: Final = {
    window.name: window
    for window in (
        AFTER_OFFSET_LOG,
        DURING_SINK_WRITE,
        DURING_STATE_COMMIT,
        BEFORE_SINK_COMMIT,
        AFTER_SINK_WRITE,
        AFTER_COMMIT,
    )
}
