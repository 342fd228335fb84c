"""`onceproof explore`: try every fault at every message of a client."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from onceproof.commands.explore_repeat import UNEXERCISED, VIOLATED, repeat_cases, repeat_only
from onceproof.commands.setup import prepared
from onceproof.errors import TROUBLE, USAGE, exit_on_error
from onceproof.harness.explore.bench.stage_bench import KEPT, StageBench
from onceproof.harness.explore.bench.subjects.base import Subject
from onceproof.harness.explore.bench.subjects.every import SUBJECTS
from onceproof.harness.explore.cases import cases_of, read_cases, write_cases
from onceproof.harness.explore.exploration import (
    Exploration,
    Limits,
    Load,
    NotSound,
    pairs_in,
)
from onceproof.harness.explore.funnel import Funnel, funnel, told
from onceproof.harness.explore.journal import JOURNAL, BadJournal, Journal, Known, merged, read
from onceproof.harness.explore.pairs import united
from onceproof.harness.explore.trials import parse_key
from onceproof.harness.kafka.log_reader import UnreadableLog
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.runtimes.known import asked, check_used
from onceproof.harness.tools.runtimes.known import words as options_of
from onceproof.harness.tools.runtimes.rules import refuse
from onceproof.harness.tools.versions import versions
from onceproof.harness.wait import Interrupted, Overdue
from onceproof.interrupts import INTERRUPTED
from onceproof.reports.explore.page import render
from onceproof.reports.write import write_whole
from onceproof.stopping import stop_on_signals

STALLED: Final = 4
PAGE: Final = "explore.html"
FIGURES: Final = "explore.json"
CASES: Final = "cases.json"
_WORK: Final = "stage-"
_LOAD: Final = ("transactions", "records")
_VERSIONS: Final = ("code", "confluent-kafka", "kafka-python")
"""What must not change while an exploration continues."""


def list_subjects() -> int:
    for name, subject in SUBJECTS.items():
        print(f"{name:38} {subject.says}")
    return 0


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """How a subject is explored.

    Attributes:
        folder: for the journal and the page.
        trials: maximum number of trials, those of earlier sittings included; None: no limit.
        minutes: time limit; None: none.
        share: (number from 1, of how many): the share that is explored here.
        only: a trial to repeat instead, by its key; None: explore.
        cases: a file of cases to repeat instead; None: explore.
        lanes: number of trials that run side by side.
        versions: those of runtimes that differ from the usual ones.
        command: words that repeat a trial, with `{only}`, `{transactions}` and `{records}`.
    """

    folder: Path
    command: tuple[str, ...]
    load: Load = field(default_factory=Load)
    with_pairs: bool = True
    trials: int | None = None
    minutes: float | None = None
    share: tuple[int, int] = (1, 1)
    only: str | None = None
    cases: Path | None = None
    lanes: int = 6
    seed: int = 1
    versions: Mapping[str, str] = field(default_factory=dict)


def explore(
    name: str,
    *,
    out: Path | None,
    transactions: int,
    records: int,
    with_pairs: bool,
    trials: int | None,
    minutes: float | None,
    shard: str,
    only: str | None,
    cases: Path | None,
    lanes: int,
    seed: int,
    versions: Sequence[str] = (),
) -> int:
    """Explore a subject, or continue; print the figures and write the page."""
    if name not in SUBJECTS:
        return _usage(f"unknown subject {name}: expected one of {', '.join(SUBJECTS)}")
    try:
        share = _shard(shard)
        with_versions = asked(versions)
        check_used(with_versions, {"kafka", *SUBJECTS[name].runtimes}, name)
        refuse(with_versions, reads=SUBJECTS[name].audience == "pipeline")
    except (ValueError, SetupError) as error:
        return _usage(str(error).removesuffix("."))
    chosen = [word for item in with_versions.items() for word in item]
    load = ["--transactions", "{transactions}", "--records", "{records}"]
    return conduct(
        SUBJECTS[name],
        Wanted(
            folder=out or Path("runs") / "-".join(["explore", name, *chosen]),
            command=(
                *("onceproof", "explore", name, *options_of(with_versions)),
                *("--only", "{only}", *load),
            ),
            load=Load(transactions=transactions, records=records),
            with_pairs=with_pairs,
            trials=trials,
            minutes=minutes,
            share=share,
            only=only,
            cases=cases,
            lanes=lanes,
            seed=seed,
            versions=with_versions,
        ),
    )


def conduct(subject: Subject, wanted: Wanted) -> int:
    """Explore a subject, or continue; print the figures, write the page, return the exit code."""
    try:
        faults = None if wanted.only is None else parse_key(wanted.only)
        cases = None if wanted.cases is None else read_cases(wanted.cases, subject.name)
    except ValueError as error:
        return _usage(str(error))
    folder = wanted.folder
    with exit_on_error(), _trouble(folder):
        tools = prepared(versions=wanted.versions)
        stop = stop_on_signals()
        with _work(folder) as work:
            own = folder if faults is None and cases is None else work
            journal = Journal(own, _about(subject, wanted))
            with (
                stop.in_order(),
                StageBench(
                    subject,
                    tools=tools,
                    folder=work,
                    stop=stop,
                    lanes=wanted.lanes,
                    kept=folder / KEPT,
                ) as bench,
            ):
                exploration = Exploration(
                    bench=bench,
                    journal=journal,
                    limits=_limits(wanted.trials, wanted.minutes),
                    load=wanted.load,
                    seed=wanted.seed,
                    shard=wanted.share,
                    with_pairs=wanted.with_pairs,
                )
                if faults is not None:
                    return repeat_only(exploration, faults)
                if cases is not None:
                    return repeat_cases(exploration, cases)
                exploration.told = _Progress(exploration)
                figures = exploration.run()
            journal.close()
    return _concluded(figures, journal.known, folder)


def _limits(trials: int | None, minutes: float | None) -> Limits:
    ends_at = float("inf") if minutes is None else time.monotonic() + 60 * minutes
    return Limits(trials=trials, over=lambda: time.monotonic() >= ends_at)


@contextmanager
def _work(folder: Path) -> Iterator[Path]:
    """A folder for stages and histories, which is kept only if an error is to be examined."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob(f"{_WORK}*"):
        shutil.rmtree(old)
    work = folder / f"{_WORK}{time.time_ns():x}"
    try:
        yield work
    except Interrupted:
        shutil.rmtree(work, ignore_errors=True)
        raise
    shutil.rmtree(work)


def merge(folders: Sequence[Path], *, out: Path | None) -> int:
    """Print the figures of several shards, and write one page about them."""
    with exit_on_error():
        try:
            parts = [read(folder / JOURNAL) for folder in folders]
            known = merged(parts)
        except BadJournal as error:
            return _usage(str(error))
        planned = [pairs_in(part) for part in parts]
        folder = out or Path("runs") / "explore-merged"
        folder.mkdir(parents=True, exist_ok=True)
        return _concluded(
            funnel(known, united(filter(None, planned)) if any(planned) else None), known, folder
        )


def _concluded(figures: Funnel, known: Known, folder: Path) -> int:
    for line in told(figures):
        print(line)
    data = {"about": dict(known.about), **figures.as_json()}
    write_whole(folder / FIGURES, json.dumps(data, indent=1) + "\n")
    write_whole(folder / PAGE, render(figures, known, repeat=_repeat))
    if cases := cases_of(known):
        write_whole(folder / CASES, write_cases(cases, known.about))
        print(f"cases    {folder / CASES}")
    print(f"page     {folder / PAGE}")
    return exit_code(figures)


def exit_code(figures: Funnel) -> int:
    """Return 1 after a violation, 4 if a client never ended, 5 if the picture is incomplete."""
    if figures.violations:
        return VIOLATED
    pairs = figures.pairs
    verdicts = {*figures.hit, *(() if pairs is None else pairs.verdicts)}
    if "stalled" in verdicts:
        return STALLED
    incomplete = pairs is not None and (pairs.missed or (pairs.left and not pairs.rare))
    if figures.left or figures.missed or incomplete or "unknown" in verdicts:
        return UNEXERCISED
    return 0


def _repeat(about: dict[str, Any], key: str) -> str:
    """Return the command that repeats a trial."""
    values = {"{only}": key, **{f"{{{name}}}": str(about[name]) for name in _LOAD}}
    return shlex.join([values.get(word, word) for word in about["command"]])


def _about(subject: Subject, wanted: Wanted) -> dict[str, Any]:
    installed = versions()
    return {
        "subject": subject.name,
        "command": list(wanted.command),
        "transactions": wanted.load.transactions,
        "records": wanted.load.records,
        "seed": wanted.seed,
        "shard": "/".join(map(str, wanted.share)),
        "versions": {name: installed[name] for name in _VERSIONS} | dict(wanted.versions),
    }


def _shard(text: str) -> tuple[int, int]:
    number, slash, of = text.partition("/")
    if not (slash and number.isdigit() and of.isdigit() and 1 <= int(number) <= int(of)):
        raise ValueError(f"--shard: expected I/N with 1 ≤ I ≤ N, found {text}")
    return int(number), int(of)


class _Progress:
    """Prints a line after each batch, with an estimate of the time that is left."""

    def __init__(self, exploration: Exploration) -> None:
        self._exploration = exploration
        self._began, self._before = time.monotonic(), len(exploration.journal.known.trials)

    def __call__(self) -> None:
        figures = self._exploration.figures
        minutes = (time.monotonic() - self._began) / 60
        rate = (figures.trials - self._before) / minutes
        waiting = figures.left
        if figures.pairs is not None:
            waiting = figures.pairs.left
        left = f", about {waiting / rate:.0f} min left" if rate else ""
        print(
            f"progress {figures.trials} trials, {len(figures.violations)} violated, "
            f"{waiting} {'singles' if figures.pairs is None else 'pairs'} left, "
            f"{rate:.0f} trials a minute{left}",
            file=sys.stderr,
        )


@contextmanager
def _trouble(folder: Path) -> Iterator[None]:
    try:
        yield
    except Interrupted:
        print(
            "onceproof: interrupted; the trials so far are kept. The same command continues.",
            file=sys.stderr,
        )
        sys.exit(INTERRUPTED)
    except BadJournal as error:
        sys.exit(_usage(str(error)))
    except (NotSound, StageTrouble, Overdue, UnreadableLog, ValueError) as error:
        print(f"onceproof: {error}. Logs are in {folder}.", file=sys.stderr)
        sys.exit(TROUBLE)


def _usage(why: str) -> int:
    print(f"onceproof: {why}. See `onceproof explore --help`.", file=sys.stderr)
    return USAGE
