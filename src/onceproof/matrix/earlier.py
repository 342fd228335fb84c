"""Runs that are there already: what a matrix need not run again.

A run counts only if everything that makes it was the same (scenario, seed,
backend, schedule, code) and if it came to its end. One that ended unexpectedly counts as well: who
repeats what displeased until it pleases has judged nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from onceproof.harness.history.run_record import RunRecord, UnreadableRun
from onceproof.harness.kafka.features import TRANSACTION_VERSION
from onceproof.harness.schedule.as_json import schedule_to_json
from onceproof.harness.stage.backends import LOCAL
from onceproof.matrix.plan import Planned
from onceproof.reports.model import Report
from onceproof.reports.write import UnreadableReport, load


@dataclass(frozen=True, kw_only=True)
class Earlier:
    """A run folder with a report."""

    folder: Path
    record: RunRecord
    report: Report

    @property
    def finished(self) -> bool:
        """Whether the run came to its end, rather than being ended."""
        phases = self.report.phases
        return bool(phases) and all(p.outcome not in (None, "interrupted") for p in phases)


def records(runs: Path) -> dict[Path, RunRecord]:
    """What the run folders under `runs` say of themselves, the newest first."""
    found = {}
    for path in sorted(runs.glob("*/run.json"), reverse=True):
        try:
            found[path.parent] = RunRecord.load(path.parent)
        except UnreadableRun:
            continue
    return dict(sorted(found.items(), key=lambda item: item[1].wall_ns, reverse=True))


def reusable(planned: Planned, known: Mapping[Path, RunRecord], *, code: str) -> Earlier | None:
    """The newest finished run of one place in the matrix, by this very code."""
    same = {folder: r for folder, r in known.items() if r.versions.get("code") == code}
    return next((found for found in _with_reports(planned, same) if found.finished), None)


def latest(planned: Planned, known: Mapping[Path, RunRecord]) -> Earlier | None:
    """The newest run of one place in the matrix that has a report, finished or not."""
    return next(_with_reports(planned, known), None)


def _with_reports(planned: Planned, known: Mapping[Path, RunRecord]) -> Iterator[Earlier]:
    for folder, record in known.items():
        if _identity(planned) == _identity_of(record):
            try:
                yield Earlier(folder=folder, record=record, report=load(folder))
            except UnreadableReport:
                continue


def _identity(planned: Planned) -> tuple[Any, ...]:
    scenario = planned.scenario
    return (
        scenario.name,
        planned.seed,
        planned.backend,
        scenario.transaction_version,
        _plain(asdict(scenario.workload)),
        _plain(schedule_to_json(scenario.schedule)),
    )


def _identity_of(record: RunRecord) -> tuple[Any, ...]:
    features = record.configuration.get("features") or {}
    return (
        record.scenario,
        record.seed,
        record.configuration.get("backend", LOCAL),
        features.get(TRANSACTION_VERSION),
        _plain(record.workload),
        _plain(record.plan),
    )


def _plain(data: object) -> object:
    """As JSON gives it back."""
    return json.loads(json.dumps(data, default=str))
