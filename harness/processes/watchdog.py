"""The harness's end of the reaper's pipe."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Final

from onceproof.harness.processes import reaper
from onceproof.harness.processes.processes import MARKER
from onceproof.harness.wait import Overdue

_SECONDS: Final = 600.0
"""The data of a stage with thousands of topics takes a while to remove on a busy machine."""


class Watchdog:
    """A reaper process that waits for our end; started before anything else of a run."""

    def __init__(
        self,
        marker: str,
        *,
        log: Path,
        holds: Sequence[int] = (),
        remove: Sequence[Path] = (),
        program: ModuleType = reaper,
        arguments: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Start it.

        Args:
            holds: file descriptors that it keeps open.
            program: the module to run, one for processes and another for containers.
        """
        # A run may itself be a marked process of a matrix; its reaper must outlive it.
        self._remove = tuple(remove)
        inherited = {name: value for name, value in os.environ.items() if name != MARKER}
        with log.open("ab") as out:
            self._popen = subprocess.Popen(
                [sys.executable, "-I", "-c", _program(program), marker, *arguments,
                 *map(str, remove)],
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=out,
                start_new_session=True,
                pass_fds=tuple(holds),
                cwd="/",
                env={**inherited, **(environment or {})},
            )  # fmt: skip

    def release(self) -> None:
        """Tell the reaper that we end in order; it checks once more and exits.

        Raises:
            Overdue: it still runs after ten minutes.
        """
        assert self._popen.stdin is not None
        with suppress(BrokenPipeError):
            # A killed harness writes nothing, so a byte on the pipe means an orderly end.
            self._popen.stdin.write(b"done")
            self._popen.stdin.flush()
        with suppress(BrokenPipeError):
            self._popen.stdin.close()
        try:
            self._popen.wait(_SECONDS)
        except subprocess.TimeoutExpired:
            raise Overdue(
                f"waited {_SECONDS:.0f} s for process {self._popen.pid} to remove "
                f"{', '.join(map(str, self._remove)) or 'nothing'}, which still runs"
            ) from None


def _program(module: ModuleType) -> str:
    """Return code that runs a module from where we imported it; `-I` may omit that path."""
    depth = module.__name__.count(".")
    place = Path(str(module.__file__)).parents[depth]
    return f"import sys; sys.path.append({str(place)!r}); import {module.__name__} as it; it.main()"
