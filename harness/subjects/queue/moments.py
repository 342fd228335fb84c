"""Moments at which a forwarder can be held: the protocol between it and the harness.

The harness writes the moment's name to the file `NAME.hold`. While the forwarder is held,
`NAME.held` exists and names the record in hand. It continues when `NAME.hold` is removed or names
another moment. `harness/artemis/Moments.java` implements the same for JMS.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

BEFORE_WRITE, BEFORE_COMMIT, AFTER_COMMIT = "before-write", "before-commit", "after-commit"
MOMENTS: Final[Mapping[str, str]] = {
    BEFORE_WRITE: "before a forwarder writes the effect",
    BEFORE_COMMIT: "after the effect is written, before the message is consumed",
    AFTER_COMMIT: "after the message is consumed",
}
"""Before the effect is written, before the message is consumed, after both. With AUTO_ACKNOWLEDGE
the message is consumed from the start."""
_LOOK_EVERY: Final = 0.005


class Moments:
    """The moments of one forwarder."""

    def __init__(self, folder: Path, name: str) -> None:
        self._draft, self._wanted, self._held = (
            folder / f"{name}.{what}" for what in ("draft", "hold", "held")
        )

    def ask(self, moment: str) -> None:
        self._held.unlink(missing_ok=True)
        self._draft.write_text(moment)
        self._draft.rename(self._wanted)

    def held(self) -> str | None:
        """Return the record that it is held with; None while it is not held."""
        with suppress(FileNotFoundError):
            return self._held.read_text() or None
        return None

    def let_go(self) -> None:
        """Release it, or its next life."""
        for file in (self._wanted, self._held):
            file.unlink(missing_ok=True)

    def reached(self, moment: str, record: str) -> None:
        """Called by the forwarder at a moment: wait there while that is requested."""
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
