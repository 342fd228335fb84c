"""Find earlier runs, which a matrix need not repeat.

A run counts only if scenario, seed, backend, schedule and code are the same, and if it finished. A
run with unexpected verdicts counts too: repeating it until it passes would prove nothing.
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
from onceproof.harness.tools.runtimes.known import CHOSEN
from onceproof.matrix.plan import Planned
from onceproof.reports.model import Report
from onceproof.reports.write import UnreadableReport, load


@dataclass(frozen=True, kw_only=True)
class EarlierRun:
    """A run folder with a report."""

    folder: Path
    record: RunRecord
    report: Report

    @property
    def finished(self) -> bool:
        """Whether the run completed, rather than being interrupted."""
        phases = self.report.phases
        return bool(phases) and all(p.outcome not in (None, "interrupted") for p in phases)


def records(runs: Path) -> dict[Path, RunRecord]:
    """Return the records of all run folders in `runs`, newest first."""
    found = {}
    for path in sorted(runs.glob("*/run.json"), reverse=True):
        try:
            found[path.parent] = RunRecord.load(path.parent)
        except UnreadableRun:
            continue
    return dict(sorted(found.items(), key=lambda item: item[1].wall_ns, reverse=True))


def reusable(planned: Planned, known: Mapping[Path, RunRecord], *, code: str) -> EarlierRun | None:
    """Return the newest finished run of this trial with the same code."""
    same = {folder: r for folder, r in known.items() if r.versions.get("code") == code}
    return next((found for found in _with_reports(planned, same) if found.finished), None)


def latest(planned: Planned, known: Mapping[Path, RunRecord]) -> EarlierRun | None:
    """Return the newest run of this trial that has a report, finished or not."""
    return next(_with_reports(planned, known), None)


def _with_reports(planned: Planned, known: Mapping[Path, RunRecord]) -> Iterator[EarlierRun]:
    for folder, record in known.items():
        if _identity(planned) == _identity_of(record):
            try:
                yield EarlierRun(folder=folder, record=record, report=load(folder))
            except UnreadableReport:
                continue


def _identity(planned: Planned) -> tuple[Any, ...]:
    scenario = planned.scenario
    return (
        scenario.name,
        planned.seed,
        planned.backend,
        scenario.transaction_version,
        dict(planned.versions),
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
        record.configuration.get(CHOSEN) or {},
        _plain(record.workload),
        _plain(record.plan),
    )


def _plain(data: object) -> object:
    """Convert data to what JSON would return."""
    return json.loads(json.dumps(data, default=str))
