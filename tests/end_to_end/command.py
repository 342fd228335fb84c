"""The real command, run to completion or in the background."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Finished:
    """A completed run of the command."""

    code: int
    out: str
    err: str

    @property
    def folder(self) -> Path:
        return Path(re.findall(r"^report\s+(.*)/report\.html$", self.out, re.MULTILINE)[-1])

    @property
    def report(self) -> dict:
        return json.loads((self.folder / "report.json").read_text())

    def verdicts(self) -> dict[str, str]:
        return {claim["name"]: claim["verdict"] for claim in self.report["claims"]}


def onceproof(*arguments: str | Path, folder: Path | None = None, timeout: float = 560) -> Finished:
    """Run the command to completion, in `folder` if given."""
    done = subprocess.run(
        [sys.executable, "-m", "onceproof", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=timeout,
        cwd=folder,
    )
    return Finished(done.returncode, done.stdout, done.stderr)


class Started:
    """A running command."""

    def __init__(self, *arguments: str | Path, log: Path | None = None) -> None:
        """Start the command; without `log`, its output is piped."""
        with ExitStack() as opened:
            out = subprocess.PIPE if log is None else opened.enter_context(log.open("w"))
            self.popen = subprocess.Popen(
                [sys.executable, "-m", "onceproof", *map(str, arguments)],
                stdout=out,
                stderr=out,
                text=True,
                start_new_session=True,
            )
        self.err = ""

    def wait_for(self, pattern: str) -> None:
        """Read its progress until a line matches."""
        assert self.popen.stderr is not None
        for line in self.popen.stderr:
            self.err += line
            if re.search(pattern, line):
                return
        raise AssertionError(f"ended before {pattern!r}:\n{self.err}")

    @property
    def folder(self) -> Path:
        return Path(re.findall(r"\((/.*)\)$", self.err, re.MULTILINE)[0])

    def send(self, sig: signal.Signals) -> None:
        self.popen.send_signal(sig)

    def finish(self) -> Finished:
        out, err = self.popen.communicate(timeout=560)
        self.err += err
        return Finished(self.popen.returncode, out, self.err)

    def processes(self) -> list[str]:
        """Command lines of the processes that carry the marker of this run."""
        marker = b"ONCEPROOF_RUN=%d-" % self.popen.pid
        found = []
        for entry in os.listdir("/proc"):
            try:
                if entry.isdigit() and marker in Path("/proc", entry, "environ").read_bytes():
                    found.append(Path("/proc", entry, "cmdline").read_text().replace("\0", " "))
            except OSError:
                continue
        return found
