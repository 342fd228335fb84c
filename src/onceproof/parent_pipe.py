"""End runs and labs together with the program that started them.

The program holds the write end of a pipe that is their standard input. The kernel closes it when
the program ends for any reason, so no run outlives a killed test.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from onceproof.harness.lab.place import Place
from onceproof.harness.wait import Stop
from onceproof.lab_client import LabRefused, LabUnavailable, ask

_VARIABLE: Final = "ONCEPROOF_PARENT_PIPE"
_RUN_ENDS: Final = "the program that started the run has ended"
_LAB_ENDS: Final = "the program that started the lab has closed its standard input"


@contextmanager
def parent_pipe(environ: Mapping[str, str] = os.environ) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield a standard input and an environment for a run that ends with the block."""
    reading, writing = os.pipe()
    try:
        yield reading, {**environ, _VARIABLE: "1"}
    finally:
        os.close(reading)
        os.close(writing)


def stop_with_parent(stop: Stop) -> None:
    """Set `stop` when the parent program ends, if it started this one with `parent_pipe`."""
    # Child processes must not inherit the variable, or they would read our standard input.
    if os.environ.pop(_VARIABLE, None):
        threading.Thread(target=_stop_run, args=(stop,), daemon=True).start()


class LabWithParent:
    """Announce a lab to the program that started it, and end the lab with the program."""

    def __init__(self, stop: Stop) -> None:
        """Watch standard input; set `stop` if it is closed before the lab runs."""
        self._stop = stop
        self._place: Place | None = None
        self._gone = False
        self._lock = threading.Lock()
        threading.Thread(target=self._watch, daemon=True).start()

    def opened(self, about: dict[str, Any]) -> None:
        """Print the answer to `GET /` as one line of JSON."""
        with self._lock:
            self._place = Place(Path(about["socket"]).parent)
            if self._gone:
                self._end(self._place)
        print(json.dumps(about), flush=True)

    def _watch(self) -> None:
        _wait_closed()
        with self._lock:
            self._gone = True
            if self._place is None:
                self._stop.set(_LAB_ENDS)
            else:
                self._end(self._place)

    def _end(self, place: Place) -> None:
        try:
            ask(place, "POST", "/end", {"judge": True})
        except (LabRefused, LabUnavailable):
            # It is already ending.
            self._stop.set(_LAB_ENDS)


def _stop_run(stop: Stop) -> None:
    _wait_closed()
    stop.set(_RUN_ENDS)


def _wait_closed() -> None:
    while os.read(sys.stdin.fileno(), 4096):
        """What is written there means nothing."""
