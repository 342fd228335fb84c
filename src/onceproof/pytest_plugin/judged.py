"""Run `onceproof run` and `onceproof verify` from a test.

The verdict comes from the run's `report.json`. Exit code 1 is a finding; 3, 4 and 5 mean that
nothing was proved, and it is fair to try again.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any, Final

from onceproof.command import command
from onceproof.parent_pipe import parent_pipe
from onceproof.pytest_plugin.options import Options
from onceproof.pytest_plugin.verdict import wrong

_SHOWN: Final = 30
"""Lines of the command's output that an error shows."""
_END_SECONDS: Final = 60.0
_FOLDER: Final = re.compile(r"^report +(?P<html>.+)/report\.html$", re.MULTILINE)


class VerdictError(AssertionError):
    """Claims have wrong verdicts; the message has the verdicts and witnesses."""


class NotJudged(RuntimeError):
    """The command reached no verdict; the message has its last output."""


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A run and its verdict.

    Attributes:
        report: the content of `report.json`.
        exit_code: of the command.
        wanted: `expected` (each claim as its scenario expects), or the verdict of every claim.
    """

    folder: Path
    report: dict[str, Any]
    exit_code: int
    wanted: str

    @property
    def html(self) -> Path:
        """The path of the HTML report."""
        return self.folder / "report.html"

    @property
    def verdicts(self) -> dict[str, str]:
        """Claim name → verdict."""
        return {claim["name"]: claim["verdict"] for claim in self.report["claims"]}

    def check(self) -> None:
        """Raise `VerdictError` if a claim has a wrong verdict."""
        if text := wrong(self.report, self.html, self.exit_code, wanted=self.wanted):
            raise VerdictError(text)

    def properties(self) -> dict[str, str]:
        """Return what a test report should record."""
        run = self.report["run"]
        return {
            "scenario": str(run["scenario"]),
            "seed": str(run["seed"]),
            "verdict": str(self.report["verdict"]),
            "expected": str(self.exit_code == 0),
            "report": str(self.html),
        }


Verify = Callable[..., Judged]


def scenario(
    options: Options, name: str, *, seed: int | None = None, backend: str | None = None
) -> Judged:
    """Run a scenario.

    Args:
        options: its seed and backend are defaults; a seed on the command line overrides `seed`.
        name: as in `onceproof list`.
        seed: None: random.

    Raises:
        NotJudged: there is no verdict.
    """
    if options.seed is not None or seed is None:
        seed = options.some_seed()
    words = ("run", name, "--seed", str(seed), "--out", str(options.out))
    place = ("--backend", backend or options.backend)
    return _run((*words, *place, *options.words), wanted="expected")


def verify(options: Options, words: Sequence[str]) -> Judged:
    """Run `onceproof verify` with these arguments.

    Raises:
        NotJudged: there is no verdict.
    """
    own = () if _has_option(words, "--out") else ("--out", str(options.out))
    seed = () if _has_option(words, "--seed") else ("--seed", str(options.some_seed()))
    versions = () if _has_option(words, "--with") else options.words
    return _run(("verify", *own, *seed, *versions, *words), wanted="holds")


def _has_option(words: Sequence[str], option: str) -> bool:
    """Whether an option is given before `--`; what follows is the pipeline's command."""
    ours = takewhile(lambda word: word != "--", words)
    return any(word == option or word.startswith(f"{option}=") for word in ours)


def _run(words: Sequence[str], *, wanted: str) -> Judged:
    with parent_pipe() as (reading, environ):
        process = subprocess.Popen(
            command(*words),
            stdin=reading,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env=environ,
            start_new_session=True,
        )
        try:
            out, err = process.communicate()
        except BaseException:
            _end(process)
            raise
    found = _FOLDER.search(out)
    if found is None:
        output = "\n".join((out + err).splitlines()[-_SHOWN:]) or "(no output)"
        raise NotJudged(
            f"onceproof {' '.join(words)}\nended with exit code {process.returncode} and no "
            f"verdict. Its last output:\n{output}"
        )
    folder = Path(os.path.abspath(found["html"]))  # noqa: PTH100 - symbolic links stay
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return Judged(folder=folder, report=report, exit_code=process.returncode, wanted=wanted)


def _end(process: subprocess.Popen[str]) -> None:
    """End the run in order, also on Ctrl-C in pytest."""
    process.send_signal(signal.SIGTERM)
    try:
        process.communicate(timeout=_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()  # its reaper cleans up
        process.communicate()
