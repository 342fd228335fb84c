"""The real command, run to its end or under way."""

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
    """A run of the command that is over."""

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
    """Run the command to its end, in a working folder of its own if one is given."""
    done = subprocess.run(
        [sys.executable, "-m", "onceproof", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=timeout,
        cwd=folder,
    )
    return Finished(done.returncode, done.stdout, done.stderr)


class Started:
    """A run of the command under way."""

    def __init__(self, *arguments: str | Path, log: Path | None = None) -> None:
        """`log` gets all that it prints; without one it is there to be read."""
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
        """What carries a marker of a run of this process."""
        wanted = b"ONCEPROOF_RUN=%d-" % self.popen.pid
        found = []
        for entry in os.listdir("/proc"):
            try:
                if entry.isdigit() and wanted in Path("/proc", entry, "environ").read_bytes():
                    found.append(Path("/proc", entry, "cmdline").read_text().replace("\0", " "))
            except OSError:
                continue
        return found
