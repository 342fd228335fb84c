"""The harness's end of the reaper's pipe."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from harness.stage import reaper


class Watchdog:
    """A reaper that waits for our end; started before anything else of a run."""

    def __init__(
        self, marker: str, *, log: Path, holds: Sequence[int], remove: Sequence[Path]
    ) -> None:
        """`holds` are descriptors that it keeps open, `remove` folders that it removes."""
        with log.open("ab") as out:
            self._popen = subprocess.Popen(
                [sys.executable, "-I", reaper.__file__, marker, *map(str, remove)],
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=out,
                start_new_session=True,
                pass_fds=tuple(holds),
                cwd="/",
            )

    def release(self) -> None:
        """Let it look once more and go: an orderly end is checked like any other."""
        assert self._popen.stdin is not None
        self._popen.stdin.close()
        self._popen.wait(15)
