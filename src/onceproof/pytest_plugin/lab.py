"""A bare lab that lives as long as its pytest process.

The lab reads from a pipe. When this process ends for any reason, the kernel closes the pipe, and
the lab stops its brokers.
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
from onceproof.lab_client import LabUnavailable, ask
from onceproof.pytest_plugin.options import Options

UP_SECONDS: Final = 600.0
"""Startup limit; the first lab on a machine downloads its brokers."""
DOWN_SECONDS: Final = 120.0
_SHOWN: Final = 20
"""Lines of the lab's output that an error shows."""


class LabFailed(RuntimeError):
    """The lab did not start, or is gone; the message has its last output."""


class HeldLab:
    """A lab as a context manager.

    Attributes:
        about: the lab's answer to `GET /`.
        seed: the lab's seed.
    """

    about: dict[str, Any]

    def __init__(self, options: Options) -> None:
        """Start nothing yet."""
        self.seed = options.some_seed()
        self.made = 0
        """Number of topics created; it makes their names unique."""
        self._options = options
        self._words: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def name(self) -> str:
        """The lab's name."""
        return f"pytest-{os.getpid()}"

    @property
    def socket(self) -> Path:
        """The Unix socket that it listens on."""
        return Path(self.about["socket"])

    @property
    def folder(self) -> Path:
        """Its run folder, which records what was done to it and when."""
        return Path(self.about["folder"])

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """Send a request and return the answer.

        Raises:
            LabRefused: the lab rejected it.
            LabFailed: the lab is gone.
        """
        try:
            return ask(self, method, path, body)
        except LabUnavailable as error:
            raise self._failed(f"{error}") from None

    def __enter__(self) -> HeldLab:
        self._process = subprocess.Popen(
            command(
                *("lab", "--bare", "--topic", "onceproof", "--for-program"),
                *("--name", self.name, "--seed", str(self.seed)),
                *("--out", str(self._options.out), "--backend", self._options.backend),
                *self._options.words,
            ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._words,
            # Ctrl-C must reach pytest only, which then ends the lab in order.
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
            raise self._failed(f"it did not start within {UP_SECONDS:.0f} s")
        if not line:
            raise self._failed(f"it ended with exit code {process.wait(DOWN_SECONDS)}")
        # Drain the pipe, or the lab's last output could block it.
        threading.Thread(target=process.stdout.read, daemon=True).start()
        return line

    def _end(self) -> int:
        """End the lab by closing the pipe, and wait."""
        process = self._process
        assert process is not None
        assert process.stdin is not None
        process.stdin.close()
        try:
            return process.wait(DOWN_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()  # its reaper cleans up
            process.wait()
            raise self._failed(f"it did not end within {DOWN_SECONDS:.0f} s") from None

    def _failed(self, what: str) -> LabFailed:
        self._words.seek(0)
        lines = self._words.read().decode(errors="replace").splitlines()
        last = "\n".join(lines[-_SHOWN:]) or "(no output)"
        return LabFailed(
            f"the lab of the tests ({self.name}) failed: {what}. Its last output:\n{last}\n"
            "`onceproof doctor` checks whether this machine has all requirements."
        )
