"""A bare lab that a pytest process holds.

It hangs on a pipe of ours. Whatever becomes of this process, the kernel
closes the pipe, and the lab takes its brokers down.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final

from onceproof.command import command
from onceproof.lab_client import LabSilent, ask
from onceproof.pytest_plugin.options import Options

UP_SECONDS: Final = 600.0
"""How long a lab may take to come up; the first one of a machine downloads its brokers."""
DOWN_SECONDS: Final = 120.0
_SHOWN: Final = 20
"""Lines of its own words that an error shows."""


class LabFailed(RuntimeError):
    """The lab did not come up, or went away; the text has its own last words."""


class HeldLab:
    """One lab, from `with` to its end.

    Attributes:
        about: what `GET /` answered when it was up.
        seed: what draws in it.
    """

    about: dict[str, Any]

    def __init__(self, options: Options) -> None:
        """Nothing is started yet."""
        self.seed = options.some_seed()
        self.made = 0
        """How many topics were made in it: names are never used twice."""
        self._options = options
        self._words: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def name(self) -> str:
        """What it is called."""
        return f"pytest-{os.getpid()}"

    @property
    def socket(self) -> Path:
        """The socket that it listens on."""
        return Path(self.about["socket"])

    @property
    def folder(self) -> Path:
        """Its run folder, which says what was done to it and when."""
        return Path(self.about["folder"])

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """What it answers.

        Raises:
            LabRefused: it cannot or will not.
            LabFailed: it is not there any more.
        """
        try:
            return ask(self, method, path, body)
        except LabSilent as error:
            raise self._failed(f"{error}") from None

    def __enter__(self) -> HeldLab:
        self._process = subprocess.Popen(
            command(
                *("lab", "--bare", "--topic", "onceproof", "--for-program"),
                *("--name", self.name, "--seed", str(self.seed)),
                *("--out", str(self._options.out), "--backend", self._options.backend),
            ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._words,
            # Ctrl-C is for pytest, which then lets the lab end in an orderly way.
            start_new_session=True,
        )
        try:
            self.about = json.loads(self._first_line(self._process))
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        code = self._end()
        if code != 0 and error is None:
            raise self._failed(f"it ended with exit code {code}")

    def _first_line(self, process: subprocess.Popen[bytes]) -> bytes:
        """What it says when it is up."""
        assert process.stdout is not None
        overdue = threading.Event()

        def too_long() -> None:
            overdue.set()
            process.terminate()

        timer = threading.Timer(UP_SECONDS, too_long)
        timer.start()
        try:
            line: bytes = process.stdout.readline()
        finally:
            timer.cancel()
        if overdue.is_set():
            raise self._failed(f"it was not up within {UP_SECONDS:.0f} s")
        if not line:
            raise self._failed(f"it ended with exit code {process.wait(DOWN_SECONDS)}")
        # What it prints in the end must not fill the pipe.
        threading.Thread(target=process.stdout.read, daemon=True).start()
        return line

    def _end(self) -> int:
        """Close the pipe, which ends it, and wait."""
        process = self._process
        assert process is not None
        assert process.stdin is not None
        process.stdin.close()
        try:
            return process.wait(DOWN_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()  # its reaper clears up after it
            process.wait()
            raise self._failed(f"it did not end within {DOWN_SECONDS:.0f} s") from None

    def _failed(self, what: str) -> LabFailed:
        self._words.seek(0)
        lines = self._words.read().decode(errors="replace").splitlines()
        last = "\n".join(lines[-_SHOWN:]) or "nothing"
        return LabFailed(
            f"the lab of the tests ({self.name}): {what}. It said:\n{last}\n"
            "`onceproof doctor` says whether something is missing on this machine."
        )
