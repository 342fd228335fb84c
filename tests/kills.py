"""Ends runs at random moments, judging included, and looks at what is left.

    python -m tests.kills --times 50 --seed 1

Of each it must hold: within 20 seconds nothing of the run is alive; SIGINT and SIGTERM end it with
130; and `onceproof check` judges the folder. Prints a line for each, and ends with 1 if one failed.
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from onceproof.harness.wait import Overdue, wait_until
from tests.end_to_end.command import Started, onceproof

SCENARIOS: Final = ("spark-foreachbatch-postgres-unguarded", "control-idle-crash")
SECONDS: Final = 20.0
"""Within which nothing may be alive."""
_RUN: Final = 600.0
_JUDGED: Final = frozenset({0, 1, 3, 4, 5})


class Kill:
    """One run, and its end."""

    def __init__(self, draw: random.Random, number: int, longest: float, out: Path) -> None:
        self.signal = draw.choice([signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
        self.while_judged = number % 4 == 3
        self.moment = draw.uniform(0, 1.5) if self.while_judged else draw.uniform(0.1, longest)
        self.scenario, self.out = SCENARIOS[number % len(SCENARIOS)], out
        self.wrong: list[str] = []

    def carry_out(self) -> str:
        """Start, end, look; returns a line."""
        log = self.out.with_suffix(".log")
        run = Started("run", self.scenario, "--seed", "3", "--out", self.out, log=log)
        began = time.monotonic()
        if self.while_judged:
            self._await_sealed(run)
        with suppress(subprocess.TimeoutExpired):
            run.popen.wait(self.moment)
        over, at = run.popen.poll() is not None, time.monotonic()
        run.send(self.signal)
        code = self._gone(run, at)
        took = time.monotonic() - at
        # Before Python hears signals they end it; a run that is over has its own exit code.
        wanted = {-signal.SIGKILL} if self.signal is signal.SIGKILL else {130}
        if not log.read_text():
            wanted.add(-self.signal)
        if over or "repeat   onceproof" in log.read_text():
            wanted |= {*_JUDGED}
        if code not in wanted:
            self.wrong.append(f"exit code {code}")
        if "Traceback" in log.read_text():
            self.wrong.append(f"a traceback in {log}")
        checked = self._checked()
        where = "judging" if self.while_judged else "run"
        return (
            f"{self.signal.name:<8} {self.scenario:<38} {at - began:6.1f} s ({where}): exit "
            f"{code}, gone after {took:4.1f} s, check {checked}"
            f"{'  WRONG: ' + '; '.join(self.wrong) if self.wrong else ''}"
        )

    def _await_sealed(self, run: Started) -> None:
        def sealed() -> bool:
            there = list(self.out.glob("*/history"))
            written = [file for folder in there for file in folder.iterdir()]
            return run.popen.poll() is not None or (
                bool(written) and not any(file.suffix == ".jsonl" for file in written)
            )

        wait_until(sealed, what="a sealed history", seconds=_RUN, every=0.02)

    def _gone(self, run: Started, at: float) -> int | None:
        def gone() -> bool:
            return run.popen.poll() is not None and not run.processes()

        try:
            wait_until(gone, what="", seconds=max(0.1, at + SECONDS - time.monotonic()))
        except Overdue:
            self.wrong.append(f"alive: {run.processes() or 'the command itself'}")
            with suppress(Overdue):
                wait_until(gone, what="", seconds=_RUN)
        return run.popen.poll()

    def _checked(self) -> str:
        folders = [file.parent for file in self.out.glob("*/run.json")]
        for folder in folders:
            done = onceproof("check", folder)
            if done.code not in _JUDGED or "Traceback" in done.err:
                self.wrong.append(f"check {folder}: exit {done.code}: {done.err[-300:]}")
            return str(done.code)
        return "nothing (no run had begun)"


def main() -> int:
    """Carry them out one after the other."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--times", type=int, default=50)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--longest", type=float, default=70.0, help="seconds of a run")
    given = options.parse_args()
    draw, failed = random.Random(given.seed), 0
    with tempfile.TemporaryDirectory(prefix="onceproof-kills-") as folder:
        for number in range(given.times):
            kill = Kill(draw, number, given.longest, Path(folder, str(number)))
            print(f"{number + 1:3} {kill.carry_out()}", flush=True)
            failed += bool(kill.wrong)
    print(f"{given.times} ends, {failed} wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
