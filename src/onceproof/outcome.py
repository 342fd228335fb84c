"""Judge a run folder and write its report, both after a run and for `onceproof check`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from onceproof.checkers import exit_code
from onceproof.checkers.engines.settings import Settings
from onceproof.checkers.model import Judgement
from onceproof.harness.clock import now
from onceproof.harness.history import events
from onceproof.harness.history.folder import RunFolder
from onceproof.harness.run.judge import judge
from onceproof.internal_errors import in_run
from onceproof.reports.assembly.run_logs import run_logs
from onceproof.reports.build import build
from onceproof.reports.model import Report
from onceproof.reports.write import write


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The result of a run or a check.

    Attributes:
        folder: the run folder.
        judgement: the checkers' verdicts.
        report: the content of `report.json`.
        exit_code: 0 if every claim is as expected; otherwise by the first that is not: 1 violated,
            3 invalid, 4 stalled, 5 unknown or unexercised. 130 if the run was interrupted.
        html, json: paths of the reports.
    """

    folder: Path
    judgement: Judgement
    report: Report
    exit_code: int
    html: Path
    json: Path


def check_run(
    folder: Path,
    *,
    handlers: Sequence[events.Handler] = (),
    interrupted: bool = False,
    settings: Settings | None = None,
    unsealed: bool = False,
) -> Outcome:
    """Judge a run folder offline and rewrite its report.

    Args:
        folder: the run folder.
        handlers: get the events `Judged` and `ReportWritten`.
        interrupted: whether the run was interrupted, for the exit code.
        settings: query engine and its limits.
        unsealed: also judge a run that was changed after it was sealed; the report says so.

    Raises:
        ValueError: the folder is not a run or is damaged; the message says what to do.
    """
    with in_run(folder):
        judged = judge(folder, settings, unsealed=unsealed)
        logs = run_logs(RunFolder(folder).logs, judged.record, judged.history)
        report = build(judged.record, judged.history, judged.judgement, logs)
        html, json = write(folder, report)
    for handler in handlers:
        handler(events.Judged(at=now(), judgement=judged.judgement))
        handler(events.ReportWritten(at=now(), html=html, json=json))
    return Outcome(
        folder=folder,
        judgement=judged.judgement,
        report=report,
        exit_code=exit_code(judged.judgement.claims, interrupted=interrupted),
        html=html,
        json=json,
    )
