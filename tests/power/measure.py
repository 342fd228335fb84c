"""A measurement under way: what is not known yet is tried, side by side."""

from __future__ import annotations

import random
import shutil
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from onceproof.harness.processes.side_by_side import Ended, Job, children, side_by_side
from onceproof.harness.wait import Stop
from onceproof.reports.text import seconds
from tests.power.page import line
from tests.power.results import Results
from tests.power.start import MissingTool
from tests.power.trial import Result, Trial, result

QUICK_SECONDS: Final = 900.0
_USUALLY: Final = 240.0
"""Seconds of a trial, as long as none was measured."""
_KEPT: Final = frozenset({"run.json", "report.json", "report.html", "logs"})
"""What stays of a run that came out as it should."""


@dataclass(kw_only=True)
class Measurement:
    """Trials under way.

    Attributes:
        trials: all that are asked for.
        results: what is known, and gets what is new.
        out: folder that gets run folders and logs.
        at_once: how many trials at a time.
        budget: seconds after which none is begun that would not end in time; None: no limit.
        stop: ends it in an orderly way when set.
        missing: pairs that cannot be tried here, and why.
    """

    trials: Sequence[Trial]
    results: Results
    out: Path
    at_once: int
    stop: Stop
    budget: float | None = None
    missing: dict[str, str] = field(default_factory=dict)
    _since: float = field(default_factory=time.monotonic)
    _under_way: dict[str, Trial] = field(default_factory=dict)
    _took: list[float] = field(default_factory=list)

    def execute(self) -> None:
        """Try what is not known yet."""
        known = self.results.told(self.trials)
        self._took += [found.seconds for _, found in known]
        _say(f"{len(self.trials) - len(known)} trials to make, {self.at_once} at a time")
        for trial, found in known:
            _say(line(trial, found))
        with self.stop.in_order(), children(self.out / "logs") as processes:
            side_by_side(
                self._jobs(),
                at_once=self.at_once,
                processes=processes,
                stop=self.stop,
                started=lambda job: None,
                ended=self._ended,
            )

    def _jobs(self) -> Iterator[Job]:
        for trial in self.trials:
            if self.results.of(trial) is not None or trial.pair.name in self.missing:
                continue
            if not self._in_time():
                return
            try:
                job = trial.job(self.out)
            except MissingTool as error:
                self.missing[trial.pair.name] = str(error)
                _say(f"- {trial.pair.name} is left out: {error}")
                continue
            self._under_way[trial.name] = trial
            for earlier in (self.out / "logs").glob(f"{trial.name}.*"):
                earlier.unlink()  # or its report would be taken for that of one that crashes now
            yield job

    def _in_time(self) -> bool:
        if self.budget is None:
            return True
        usually = statistics.mean(self._took) if self._took else _USUALLY
        return time.monotonic() - self._since + usually <= self.budget

    def _ended(self, ended: Ended) -> None:
        trial = self._under_way.pop(ended.job.name)
        if self.stop.is_set():
            return  # it was broken off, and says nothing of its program
        found = result(trial, ended)
        self._took.append(found.seconds)
        self.results.add(found)
        _say(line(trial, found))
        if found.right(trial):
            _lighten(found)


def drawn(trials: Sequence[Trial], seed: int) -> list[Trial]:
    """The same in an order that is drawn, so that a part of them is a sample of pairs."""
    names = list(dict.fromkeys(trial.pair.name for trial in trials))
    random.Random(seed).shuffle(names)
    return sorted(trials, key=lambda trial: names.index(trial.pair.name))


def told_time(since: float) -> str:
    """How long it is since then."""
    return seconds(time.monotonic() - since)


def _lighten(found: Result) -> None:
    """Leave of a run folder only what is read later: eighty whole ones are gigabytes."""
    for entry in Path(found.folder).iterdir() if found.folder else ():
        if entry.name not in _KEPT:
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)
