"""Moments in the life of a micro-batch at which a driver can be killed, all seen from outside.

Spark writes `offsets/N`, runs the batch, and writes `commits/N`. A window
lies between two of these, the driver is frozen at the sign that it has begun, and what log, state
and sink hold then says whether it is still in it. The job is not asked and need not know.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

Sign = Literal["planned", "state commit begun", "sink commit begun", "commit begun", "committed"]
"""What is seen in a checkpoint: `offsets/N` is there, one partition of the state has a version for
batch N, `commits/N` is being written, it is there. And in a sink that keeps a log of its own: its
entry for batch N is being written."""


@dataclass(frozen=True, kw_only=True)
class Window:
    """One such moment.

    Attributes:
        name: how it is asked for.
        says: the moment in words, as the rest of «SIGKILL the Spark driver …».
        sign: what shows that it has begun.
        committed: whether the commit log has the batch then.
        growing: whether it begins only when, after the sign, the sink grows.
        holds: given how many of a batch's records have effects in the sink, and how many it has,
            whether that is the window.
        state: given how many partitions of the state have the batch's version, and how many
            partitions there are, whether that is the window.
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
    says="when a batch is in the offset log and nothing of it in the sink",
    sign="planned",
    holds=lambda present, planned: present == 0 < planned,
)
DURING_SINK_WRITE: Final = Window(
    name="during-sink-write",
    says="when the sink has a part of a batch",
    sign="planned",
    growing=True,
    holds=lambda present, planned: 0 < present < planned,
)
DURING_STATE_COMMIT: Final = Window(
    name="during-state-commit",
    says="when a part of the state's partitions has a batch",
    sign="state commit begun",
    # What has reached the sink by then is the sink's affair: the state is what is torn.
    holds=lambda present, planned: planned > 0,
    state=lambda done, partitions: 0 < done < partitions,
)
BEFORE_SINK_COMMIT: Final = Window(
    name="before-sink-commit",
    says="when all of a batch is written and the sink's own log has no entry for it",
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
    says="when a batch is committed and the next one is not planned",
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
