"""Moments at which a forwarder can be held: the protocol between it and the harness.

If the harness has created the file `NAME.passed`, the forwarder appends a line to it at each
moment: its name and the first record in hand.

The harness writes the names of moments to the file `NAME.hold`. While the forwarder is held at one
of them, `NAME.held` exists and names the record in hand. It continues when `NAME.hold` is removed
or no longer has the moment. `harness/artemis/Moments.java` implements the same for JMS.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
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
LOOK_EVERY: Final = 0.005


class Moments:
    """The moments of one forwarder. Thread-safe."""

    def __init__(self, folder: Path, name: str) -> None:
        self._draft, self._wanted, self._held, self._passed = (
            folder / f"{name}.{what}" for what in ("draft", "hold", "held", "passed")
        )

        self._asked: list[str] = []
        self._asking = threading.Lock()

    def ask(self, moment: str) -> None:
        """Hold it at this moment, besides others that were asked for."""
        with self._asking:
            if not self._asked:
                self._held.unlink(missing_ok=True)
            self._want([*self._asked, moment])

    def held(self) -> str | None:
        """Return the record that it is held with; None while it is not held."""
        with suppress(FileNotFoundError):
            return self._held.read_text() or None
        return None

    def let_go(self, moment: str | None = None) -> None:
        """Release it, or its next life, from one moment, or from all."""
        with self._asking:
            left = [each for each in self._asked if moment not in (None, each)]
            self._want(left)
            if not left:
                self._held.unlink(missing_ok=True)

    def _want(self, moments: list[str]) -> None:
        self._asked = moments
        if not moments:
            self._wanted.unlink(missing_ok=True)
            return
        self._draft.write_text("".join(f"{moment}\n" for moment in moments))
        self._draft.rename(self._wanted)

    def record(self) -> None:
        """Let the forwarder, which has not started, write down every moment."""
        self._passed.touch()

    def passed(self) -> list[tuple[str, str]]:
        """Return the moments that the forwarder has reached, in order, with the record in hand."""
        # The last line may be incomplete.
        whole = self._passed.read_text().rpartition("\n")[0].splitlines()
        return [(moment, record) for moment, _, record in (line.partition(" ") for line in whole)]

    def reached(
        self, moment: str, record: str, idle: Callable[[], None] = lambda: time.sleep(LOOK_EVERY)
    ) -> None:
        """Called by the forwarder at a moment: wait there while that is requested.

        `idle` is called again and again meanwhile, and takes a few milliseconds.
        """
        if self._passed.exists():
            with self._passed.open("a") as passed:
                passed.write(f"{moment} {record}\n")
        if not self._wants(moment):
            return
        self._held.write_text(record)
        while self._wants(moment):
            idle()
        self._held.unlink(missing_ok=True)

    def _wants(self, moment: str) -> bool:
        with suppress(FileNotFoundError):
            return moment in self._wanted.read_text().splitlines()
        return False
