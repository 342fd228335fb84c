"""A lab that a program holds: it is told of the lab in JSON, and the lab ends with it.

The one thing to know: what holds the lab is a pipe on our standard input. The kernel closes it
whatever becomes of the program, so that no lab outlives a test that was killed.
"""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

from onceproof.harness.lab.place import Place
from onceproof.harness.wait import Stop
from onceproof.holding import wait_let_go
from onceproof.lab_client import LabRefused, LabSilent, ask

_GONE = "the program that held the lab closed our standard input"


class WhileHeld:
    """Watches standard input, and lets the lab end when it is closed."""

    def __init__(self, stop: Stop) -> None:
        """Begin to watch.

        Args:
            stop: is set if the input is closed before the lab is up.
        """
        self._stop = stop
        self._place: Place | None = None
        self._gone = False
        self._lock = threading.Lock()
        threading.Thread(target=self._watch, daemon=True).start()

    def opened(self, about: dict[str, Any]) -> None:
        """Say in one line of JSON what `GET /` answers."""
        with self._lock:
            self._place = Place(Path(about["socket"]).parent)
            if self._gone:
                self._end(self._place)
        print(json.dumps(about), flush=True)

    def _watch(self) -> None:
        wait_let_go()
        with self._lock:
            self._gone = True
            if self._place is None:
                self._stop.set(_GONE)
            else:
                self._end(self._place)

    def _end(self, place: Place) -> None:
        try:
            ask(place, "POST", "/end", {"judge": True})
        except (LabRefused, LabSilent):
            # It ends already.
            self._stop.set(_GONE)
