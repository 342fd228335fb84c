"""Moments of a forwarder at which it can be asked to stand still: what both sides agree on.

Who wants it writes the moment's name into the file `NAME.hold`; `NAME.held`
is there while the forwarder stands still, and says with which record. It goes on when `NAME.hold`
is gone, or says another moment. `harness/artemis/Moments.java` is the same for those in Java.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

BEFORE_WRITE, BEFORE_COMMIT, AFTER_COMMIT = "before-write", "before-commit", "after-commit"
MOMENTS: Final[Mapping[str, str]] = {
    BEFORE_WRITE: "when it is about to write",
    BEFORE_COMMIT: "when it is about to have what it took consumed",
    AFTER_COMMIT: "when what it took is consumed",
}
"""A message was handed out and nothing is written yet, the effect is written and the message not
yet consumed, or both is done. With AUTO_ACKNOWLEDGE it is consumed from the first one on."""
_LOOK_EVERY: Final = 0.005


class Moments:
    """Those of one forwarder."""

    def __init__(self, folder: Path, name: str) -> None:
        self._draft, self._wanted, self._held = (
            folder / f"{name}.{what}" for what in ("draft", "hold", "held")
        )

    def ask(self, moment: str) -> None:
        self._held.unlink(missing_ok=True)
        self._draft.write_text(moment)
        self._draft.rename(self._wanted)

    def held(self) -> str | None:
        """The record with which it stands still; None while it does not."""
        with suppress(FileNotFoundError):
            return self._held.read_text() or None
        return None

    def let_go(self) -> None:
        """Let it go on, or its next life."""
        for file in (self._wanted, self._held):
            file.unlink(missing_ok=True)

    def reached(self, moment: str, record: str) -> None:
        """The forwarder is there: stand still if that is wanted."""
        if not self._wants(moment):
            return
        self._held.write_text(record)
        while self._wants(moment):
            time.sleep(_LOOK_EVERY)
        self._held.unlink(missing_ok=True)

    def _wants(self, moment: str) -> bool:
        with suppress(FileNotFoundError):
            return self._wanted.read_text() == moment
        return False
