"""Keep the results of many runs: table rows, resource readings, and unexpected run folders.

A soak may last for weeks, so memory must not grow with expected results, beyond the first few.
"""

from __future__ import annotations

import json
import shutil
import sys
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from onceproof.checkers import Verdict
from onceproof.checkers.verdict import code_of_unexpected
from onceproof.errors import TROUBLE
from onceproof.exit_codes import worst
from onceproof.interrupts import INTERRUPTED
from onceproof.outcome import Outcome
from onceproof.reports.console import SoakRow, print_result, print_summary, rows_of
from onceproof.reports.runs.claims import claim_results
from onceproof.reports.text import plural
from onceproof.soak.watch import Reading

_RUNS_SHOWN: Final = 60
"""The table lists all of up to this many runs; beyond that, only unexpected ones."""


class SoakResults:
    """The results of a soak."""

    def __init__(self, out: Path, *, keep_all: bool = False) -> None:
        """Write readings into `out`, one line of JSON per run; `keep_all` keeps all run folders."""
        self._keep_all = keep_all
        self._all: list[SoakRow] = []
        self._wrong: list[SoakRow] = []
        self._folders: list[Path] = []
        self._codes: set[int] = set()
        self._runs = 0
        self._file = out / f"soak-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.jsonl"

    def add(self, outcome: Outcome, reading: Reading, *, interrupted: bool = False) -> None:
        """Record a run, and remove its folder unless it proves something unexpected."""
        rows, keep = rows_of(outcome.report), _worth_keeping(outcome, interrupted)
        self._note(outcome, reading)
        if keep or not interrupted:
            self._runs += 1
            if self._runs <= _RUNS_SHOWN:
                self._all += rows
        if keep:
            self._codes.add(_code(outcome) if interrupted else outcome.exit_code)
            self._wrong += rows
            self._folders.append(outcome.folder)
            print_result(outcome.report, sys.stdout, outcome.folder)
            print(flush=True)
        elif not self._keep_all:
            # Do not end the soak if removal fails: disk space is monitored anyway.
            with suppress(OSError):
                shutil.rmtree(outcome.folder)
        print(f"soak     {self._count()}; {_resources(reading)}", file=sys.stderr, flush=True)

    def conclude(self, ended: str | None, *, interrupted: bool, endless: bool) -> int:
        """Print the summary and return the exit code; `ended` is why the soak had to stop."""
        if rows := self._all if self._runs <= _RUNS_SHOWN else self._wrong:
            print_summary(rows, sys.stdout)
        print(self._count())
        for folder in self._folders:
            print(f"kept     {folder}")
        print(f"readings {self._file}", flush=True)
        codes = set(self._codes)
        if interrupted and not endless:
            codes.add(INTERRUPTED)
        if ended is not None:
            print(f"onceproof: {ended}.", file=sys.stderr)
            codes.add(TROUBLE)
        return worst(codes)

    def _count(self) -> str:
        return f"{plural(self._runs, 'run')}, {len(self._folders)} not as expected"

    def _note(self, outcome: Outcome, reading: Reading) -> None:
        run = outcome.report.run
        noted = {
            "scenario": run.scenario,
            "seed": run.seed,
            "exit_code": outcome.exit_code,
            "verdicts": {claim.name: claim.verdict for claim in outcome.report.claims},
            "seconds": run.seconds,
            **asdict(reading),
        }
        with self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(noted) + "\n")


def _worth_keeping(outcome: Outcome, interrupted: bool) -> bool:
    """Whether a run was unexpected, and not only because it was interrupted."""
    if not interrupted:
        return outcome.exit_code != 0
    claims = outcome.report.claims
    return any(c.verdict is Verdict.VIOLATED and c.expected is not True for c in claims)


def _code(outcome: Outcome) -> int:
    """Return the exit code of an interrupted run by what it has proved."""
    return code_of_unexpected(c.verdict for c in claim_results(outcome.report) if not c.expected)


def _resources(reading: Reading) -> str:
    return (
        f"{reading.memory / 2**20:.0f} MiB, {plural(reading.processes, 'process', 'processes')}, "
        f"{plural(reading.threads, 'thread')}, {plural(reading.files, 'open file')}, "
        f"{reading.free / 2**30:.0f} GiB free"
    )
