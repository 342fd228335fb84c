"""The output of a user's command: one line for each effect.

The command runs on each read (to check for changes, at most once a second), so it must print
everything each time and change nothing.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Final

from onceproof.harness.processes.processes import MARKER
from onceproof.harness.processes.sweep import new_marker
from onceproof.harness.user_pipeline.identity import Written
from onceproof.harness.user_pipeline.outputs.base import FoundEffect, UnreadableOutput
from onceproof.harness.user_pipeline.outputs.kind import LINE, OutputAccess, OutputKind

_REUSE_SECONDS: Final = 1.0
"""Seconds for which its last output is reused to check for changes."""
_SECONDS: Final = 15.0
"""Timeout; the command runs many times."""


class CommandOutput:
    """One command."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = tuple(command)
        self._lines: list[str] = []
        self._read_at = float("-inf")
        self._marker = new_marker()

    def size(self) -> int:
        """Return the number of lines."""
        return len(self._read(_REUSE_SECONDS))

    def found(self) -> Iterator[FoundEffect]:
        """Yield its non-empty lines."""
        for number, line in enumerate(self._read(0.0), 1):
            yield FoundEffect(written=Written(value=line), position=f"line {number}")

    def hanging(self) -> bool:
        """False: it is not known."""
        return False

    def _read(self, fresh: float) -> list[str]:
        if time.monotonic() - self._read_at >= fresh:
            self._lines = [line for line in self._run().splitlines() if line.strip()]
            self._read_at = time.monotonic()
        return self._lines

    def _run(self) -> str:
        what = " ".join(self._command)
        try:
            out, err, code = self._execute()
        except subprocess.TimeoutExpired as error:
            text = b"".join(part for part in (error.stdout, error.stderr) if part)
            raise UnreadableOutput(
                f"{what} did not finish within {_SECONDS:g} s and was killed; "
                f"{_last(text.decode())}"
            ) from error
        except OSError as error:
            raise UnreadableOutput(f"{what}: {error}") from error
        if code:
            raise UnreadableOutput(f"{what} exited with code {code}; {_last(err)}")
        return out

    def _execute(self) -> tuple[str, str, int]:
        """Run it; return its output, errors and exit code. Kill all it has started after a timeout.

        Its processes carry a marker, so that the next start finds them if the harness is killed.
        """
        with subprocess.Popen(
            self._command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env={**os.environ, MARKER: self._marker},
            start_new_session=True,
        ) as process:
            try:
                out, err = process.communicate(timeout=_SECONDS)
            except BaseException:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                raise
        return out, err, process.returncode


def _last(output: str) -> str:
    lines = output.strip().splitlines()[-3:]
    return f"last output: {' | '.join(lines)}" if lines else "it printed nothing"


def _opened(place: str, where: OutputAccess) -> CommandOutput:
    return CommandOutput([where.fill(word) for word in shlex.split(place)])


OUTPUTS: Final = (
    OutputKind(
        prefix="command",
        place="COMMAND",
        says="The output of a command that prints one line for each effect.",
        views={"printed": _opened},
        rules=LINE,
        untested="Whether the command prints every effect exactly once.",
    ),
)
