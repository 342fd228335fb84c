"""Run a matrix: execute what has not been run yet, and rewrite the page after each run.

However it ends, the page shows its progress, and the next matrix continues from there, because all
state is read from the run folders.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from onceproof.ci import BuildServer
from onceproof.harness.history.run_record import RunRecord
from onceproof.harness.processes.side_by_side import Ended, Job, children, side_by_side
from onceproof.harness.tools.versions import code, host, versions
from onceproof.harness.wait import Stop
from onceproof.matrix import board
from onceproof.matrix.budget import Budget
from onceproof.matrix.earlier import records, reusable
from onceproof.matrix.first_to_run import order_by_coverage
from onceproof.matrix.plan import Planned
from onceproof.reports.ci.case import Case, cases_of_trial
from onceproof.reports.runs.page import write_matrix
from onceproof.reports.runs.summary import headline, unexpected
from onceproof.reports.runs.trial import Backend, Matrix, State, Trial
from onceproof.reports.text import seconds
from onceproof.soak.watch import LEAST_FREE, free_bytes, low_disk

LOGS: Final = "matrix-logs"


@dataclass(kw_only=True)
class MatrixRun:
    """A matrix in progress.

    Attributes:
        planned: its trials, in display order.
        repeat: the command that repeats it.
        hear: gets a trial when it begins (True) and when its outcome is known (False).
        trials: name → current state.
        started_at: wall clock, UTC, ISO 8601.
        since: monotonic clock then, in seconds.
    """

    planned: tuple[Planned, ...]
    backends: tuple[Backend, ...]
    seed: int
    out: Path
    at_once: int
    scope: str
    repeat: str
    stop: Stop
    budget: Budget
    server: BuildServer
    hear: Callable[[Trial, bool], None] = lambda trial, began: None
    trials: dict[str, Trial] = field(default_factory=dict)
    started_at: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    since: float = field(default_factory=time.monotonic)
    _known: dict[Path, RunRecord] = field(default_factory=dict, init=False)
    """All run folders when the last run ended."""
    _before: dict[Path, RunRecord] = field(default_factory=dict, init=False)
    """The run folders that existed at the start."""
    _places: dict[str, Planned] = field(default_factory=dict, init=False)
    _cases: dict[str, tuple[Case, ...]] = field(default_factory=dict, init=False)

    def execute(self) -> None:
        """Run everything that has no reusable run."""
        self.out.mkdir(parents=True, exist_ok=True)
        self._before = self._known = records(self.out)
        self._places = {place.name: place for place in self.planned}
        for place in self.planned:
            earlier = reusable(place, self._before, code=code()) if not place.lacks else None
            self.trials[place.name] = (
                board.reused(place, earlier, self.out) if earlier else board.waiting(place)
            )
        todo = len(self._all(State.WAITING))
        _log(
            f"{todo} runs to do, {self.at_once} in parallel; {len(self._all(State.REUSED))} "
            f"reused, {len(self._all(State.LEFT_OUT))} left out"
        )
        for trial in self._all(State.REUSED):
            self.hear(trial, False)
            _log(f"reused   {trial.scenario} on {trial.backend}: {self.out / (trial.report or '')}")
        write_matrix(self.out, self.snapshot())
        self._update_server(*self.trials)
        self._check_disk()
        with self.stop.in_order(), children(self.out / LOGS) as processes:
            side_by_side(
                self._jobs(),
                at_once=self.at_once,
                processes=processes,
                stop=self.stop,
                started=self._started,
                ended=self._ended,
            )

    def _jobs(self) -> Iterator[Job]:
        """Yield what to run, while time is left; the page keeps the plan's order for comparison."""
        limited = self.budget.seconds is not None
        for place in order_by_coverage(self.planned) if limited else self.planned:
            if self.trials[place.name].state is not State.WAITING:
                continue
            if self.budget.has_room_for(place.scenario.seconds):
                yield place.job(self.out)
            else:
                self.trials[place.name] = replace(
                    self.trials[place.name], state=State.LEFT_OUT, remark="no time was left"
                )

    def snapshot(self) -> Matrix:
        return Matrix(
            trials=tuple(self.trials.values()),
            backends=self.backends,
            seed=self.seed,
            scope=self.scope,
            at_once=self.at_once,
            started_at=self.started_at,
            seconds=time.monotonic() - self.since,
            repeat=self.repeat,
            versions=versions() | self._versions_of_runs(),
            host=host(),
        )

    def conclude(self) -> int:
        """Write the final page, print the result, and return the exit code."""
        matrix = self.snapshot()
        page, table = write_matrix(self.out, matrix)
        self._update_server(*(name for name, trial in self.trials.items() if not trial.judged))
        print(headline(matrix))
        for trial in unexpected(matrix.trials):
            why = "; ".join(
                f"{c.name}: {c.verdict}, expected {c.should_be}"
                for c in trial.claims
                if not c.expected
            )
            print(f"not as expected: {trial.scenario} on {trial.backend}: {trial.remark or why}")
        for backend in self.backends:
            if backend.missing is not None:
                print(f"not run on {backend.name}: {backend.missing}")
        print(f"took     {seconds(matrix.seconds)}\npage     {page}\ntable    {table}")
        self.server.conclude()
        return board.exit_code(matrix.trials)

    def _update_server(self, *names: str) -> None:
        """Update the results of these trials; all of them the first time."""
        if not self.server.listens:
            return
        for name in names:
            trial = self.trials[name]
            self._cases[name] = tuple(cases_of_trial(trial, page=self.out, seed=self.seed))
        self.server.know(case for cases in self._cases.values() for case in cases)

    def _all(self, state: State) -> list[Trial]:
        return [trial for trial in self.trials.values() if trial.state is state]

    def _versions_of_runs(self) -> dict[str, str]:
        """Return what only runs with this code know, such as the brokers' version; newest wins."""
        found: dict[str, str] = {}
        for record in self._known.values():
            if record.versions.get("code") == code():
                found = record.versions | found
        return found

    def _started(self, job: Job) -> None:
        self.hear(self.trials[job.name], True)
        _log(f"started  {job.name} (time limit {job.seconds:.0f} s)")

    def _ended(self, ended: Ended) -> None:
        place = self._places[ended.job.name]
        self._known = records(self.out)
        trial = board.ran(
            place,
            ended,
            {f: r for f, r in self._known.items() if f not in self._before},
            page=self.out,
            code=code(),
            stopping=self.stop.is_set(),
        )
        self.trials[place.name] = trial
        self.hear(trial, False)
        self._update_server(place.name)
        left = len(self._all(State.WAITING))
        how = "as expected" if trial.expected else trial.remark or "NOT as expected"
        _log(f"ended    {ended.job.name}: {how}, {seconds(ended.seconds)}; {left} left")
        write_matrix(self.out, self.snapshot())
        self._check_disk()

    def _check_disk(self) -> None:
        """Stop on low disk space: later runs would all be invalid, without a clear reason."""
        if low := low_disk(free_bytes(self.out), LEAST_FREE, self.out):
            self.stop.set(low)
            _log(f"onceproof: {low}.")


def _log(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
