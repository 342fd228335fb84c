"""Find run folders and read their reports, nothing else in them.

A report that is missing, truncated, too large or of another version does not break the index: the
folder is listed as unread, with the reason.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from onceproof.harness.history.run_record import RUN_FILE, RunRecord, UnreadableRun
from onceproof.reports.model import Phase, Report
from onceproof.reports.runs.claims import claim_results
from onceproof.reports.runs.run import Found, Run, Unread
from onceproof.reports.write import HTML_FILE, JSON_FILE, LARGEST, UnreadableReport, load

_NAME: Final = re.compile(r"\d{8}T\d{6}Z-.+")
_EXPECTED: Final = "a run folder that `onceproof run` printed, or their parent folder, such as runs"


class NoRuns(ValueError):
    """No run was found; the message says what to give."""


def read_runs(paths: Iterable[Path]) -> Found:
    """Read the runs in `paths`: each is a run folder, or contains run folders.

    Raises:
        NoRuns: a path does not exist, or none of them contains a run folder.
    """
    folders = dict.fromkeys(folder for path in paths for folder in _folders(path))
    if not folders:
        raise NoRuns(f"no run folder found. Give {_EXPECTED}.")
    read = [_read(folder) for folder in folders]
    runs = [run for run in read if isinstance(run, Run)]
    return Found(
        runs=tuple(sorted(runs, key=lambda r: (r.started_at, r.folder.name), reverse=True)),
        unread=tuple(found for found in read if isinstance(found, Unread)),
    )


def is_run(folder: Path) -> bool:
    """Return whether a folder belongs to a run, even if most of it is missing."""
    files = (RUN_FILE, JSON_FILE)
    return any((folder / name).exists() for name in files) or (
        _NAME.fullmatch(folder.name) is not None and (folder / "history").is_dir()
    )


def _folders(path: Path) -> Iterator[Path]:
    if not path.exists():
        raise NoRuns(f"{path} does not exist. Give {_EXPECTED}.")
    if not path.is_dir():
        return  # `runs/*` also matches a matrix's page
    if is_run(path):
        yield path
        return
    try:
        inside = sorted(path.iterdir())
    except OSError as error:
        raise NoRuns(f"{path} cannot be read ({error.strerror}): check its permissions.") from None
    for folder in inside:
        # The name alone identifies a run folder that cannot be opened.
        if folder.is_dir() and (_NAME.fullmatch(folder.name) or is_run(folder)):
            yield folder


def _read(folder: Path) -> Run | Unread:
    try:
        report = folder / JSON_FILE
        if report.exists() and not report.is_file():
            return Unread(folder=folder, reason=f"{JSON_FILE} is not a file.")
        if report.exists() and report.stat().st_size > LARGEST:
            return Unread(
                folder=folder,
                reason=f"{JSON_FILE} is too large for a report; `onceproof check` rewrites it.",
            )
        if report.exists():
            return _run(folder, load(folder))
        return _unjudged(folder)
    except (UnreadableReport, UnreadableRun) as error:
        return Unread(folder=folder, reason=str(error), scenario=_scenario(folder))
    except OSError as error:
        return Unread(folder=folder, reason=f"It cannot be read: {error.strerror or error}.")


def _unjudged(folder: Path) -> Unread:
    """Return a run without a report: still running, or interrupted before it was judged."""
    record = RunRecord.load(folder)
    return Unread(
        folder=folder,
        scenario=record.scenario,
        reason=f"It has no {JSON_FILE}: it is in progress, or was interrupted before judging. "
        "`onceproof check` judges what it recorded.",
    )


def _scenario(folder: Path) -> str | None:
    try:
        return RunRecord.load(folder).scenario
    except (UnreadableRun, OSError):
        return None


def _run(folder: Path, report: Report) -> Run:
    run, page = report.run, folder / HTML_FILE
    configuration = run.configuration
    pipeline = configuration.get("pipeline")
    command = pipeline.get("command") if isinstance(pipeline, dict) else None
    faults = [(fault.fault, fault.kind) for fault in report.faults]
    faults += [(step.fault, step.kind) for step in run.schedule]
    return Run(
        folder=folder,
        page=page if page.is_file() else None,
        scenario=run.scenario,
        title=run.title,
        subject=run.subject,
        own=None if command is None else str(command),
        backend=str(configuration.get("backend", "local")),
        seed=run.seed,
        started_at=run.started_at,
        seconds=run.seconds,
        kinds=tuple(dict.fromkeys(kind for _, kind in faults)),
        faults=tuple(dict.fromkeys(name for name, _ in faults)),
        claims=claim_results(report),
        verdict=report.verdict,
        finished=_finished(report.phases),
        code=run.versions.get("code"),
        setup=_sum([run.scenario, run.subject, run.versions, run.workload, configuration]),
    )


def _finished(phases: Iterable[Phase]) -> bool:
    outcomes = [phase.outcome for phase in phases]
    return bool(outcomes) and all(outcome not in (None, "interrupted") for outcome in outcomes)


def _sum(data: Any) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
