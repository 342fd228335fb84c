"""Moments in the life of a Flink checkpoint at which its job can be killed, all seen from outside.

Flink makes the folder `chk-N`, has every task flush and snapshot, writes
`_metadata` under another name and moves it in: then the checkpoint is complete, and only then are
the transactions of its sink committed. A job killed before that starts again from the checkpoint
before and has its transactions aborted; one killed behind it must commit them in its next life.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Sign = Literal["begun", "flushed", "complete"]
"""What is seen in a checkpoint's folder: it is there, `_metadata` is being written, it is there."""


@dataclass(frozen=True, kw_only=True)
class Window:
    """One such moment.

    Attributes:
        name: how it is asked for.
        says: the moment in words, as the rest of «SIGKILL the Flink job …».
        sign: what shows that it has begun, and is the newest sign of the checkpoint while it lasts.
        seen: what the checkpoint was, in words.
    """

    name: str
    says: str
    sign: Sign
    seen: str


CHECKPOINT_BEGUN: Final = Window(
    name="checkpoint-begun",
    says="when a checkpoint has begun and its tasks have not all flushed",
    sign="begun",
    seen="had begun and was not complete",
)
CHECKPOINT_FLUSHED: Final = Window(
    name="checkpoint-flushed",
    says="when all of a checkpoint is flushed and it is not complete",
    sign="flushed",
    seen="was flushed and not complete",
)
CHECKPOINT_COMPLETE: Final = Window(
    name="checkpoint-complete",
    says="when a checkpoint is complete and its transactions are not committed",
    sign="complete",
    seen="was complete",
)
WINDOWS: Final = {
    window.name: window for window in (CHECKPOINT_BEGUN, CHECKPOINT_FLUSHED, CHECKPOINT_COMPLETE)
}
