"""Runs of `onceproof run` and `onceproof verify` as part of a test.

The verdict is that of the run's own `report.json`. Exit codes tell what is
to be done: 1 is a finding; 3, 4 and 5 mean that nothing was proved, and to try again is fair.
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
"""Lines of the command's own words that an error shows."""
_END_SECONDS: Final = 60.0
_FOLDER: Final = re.compile(r"^report +(?P<html>.+)/report\.html$", re.MULTILINE)


class VerdictError(AssertionError):
    """Claims did not come out as they should; the text has the verdicts and the witness."""


class NotJudged(RuntimeError):
    """The command came to no verdict at all; the text has its last words."""


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A run and its verdict.

    Attributes:
        folder: the run folder.
        report: what its `report.json` holds.
        exit_code: the command's.
        wanted: whether each claim must come out as the scenario expects, or must hold.
    """

    folder: Path
    report: dict[str, Any]
    exit_code: int
    wanted: str

    @property
    def html(self) -> Path:
        """The report to read."""
        return self.folder / "report.html"

    @property
    def verdicts(self) -> dict[str, str]:
        """The verdict of each claim, by the claim's name."""
        return {claim["name"]: claim["verdict"] for claim in self.report["claims"]}

    def check(self) -> None:
        """Be content, or say why not.

        Raises:
            VerdictError: a claim is not as it should be.
        """
        if text := wrong(self.report, self.html, self.exit_code, wanted=self.wanted):
            raise VerdictError(text)

    def properties(self) -> dict[str, str]:
        """What a test report should say of it."""
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
        options: of this process; its seed wins.
        name: as in `onceproof list`.
        seed: draws it; None: drawn anew.
        backend: instead of the one that holds for all.

    Raises:
        NotJudged: there is no verdict.
    """
    if options.seed is not None or seed is None:
        seed = options.some_seed()
    words = ("run", name, "--seed", str(seed), "--out", str(options.out))
    return _run((*words, "--backend", backend or options.backend), wanted="expected")


def verify(options: Options, words: Sequence[str]) -> Judged:
    """Put a pipeline on trial; words as after `onceproof verify`.

    Raises:
        NotJudged: there is no verdict.
    """
    own = () if _says(words, "--out") else ("--out", str(options.out))
    seed = () if _says(words, "--seed") else ("--seed", str(options.some_seed()))
    return _run(("verify", *own, *seed, *words), wanted="holds")


def _says(words: Sequence[str], option: str) -> bool:
    """Whether an option is among our own words; what follows `--` is the pipeline's."""
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
        output = "\n".join((out + err).splitlines()[-_SHOWN:]) or "nothing"
        raise NotJudged(
            f"onceproof {' '.join(words)}\nended with exit code {process.returncode} and no "
            f"verdict. It said:\n{output}"
        )
    folder = Path(os.path.abspath(found["html"]))  # noqa: PTH100 - symbolic links stay
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return Judged(folder=folder, report=report, exit_code=process.returncode, wanted=wanted)


def _end(process: subprocess.Popen[str]) -> None:
    """Ctrl-C in pytest ends the run in an orderly way, too."""
    process.send_signal(signal.SIGTERM)
    try:
        process.communicate(timeout=_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()  # its reaper clears up after it
        process.communicate()
