"""Read each trial's outcome from the run folder that its run left.

The exit code counts only if there is no report, so that new and reused runs are treated alike.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final
from urllib.parse import quote

from onceproof.checkers.verdict import NOTHING_JUDGED, code_of_unexpected
from onceproof.errors import TROUBLE
from onceproof.exit_codes import worst
from onceproof.harness.history.run_record import RunRecord
from onceproof.harness.processes.side_by_side import Ended
from onceproof.interrupts import INTERRUPTED
from onceproof.matrix.earlier import EarlierRun, latest
from onceproof.matrix.plan import Planned
from onceproof.reports.runs.claims import claim_results
from onceproof.reports.runs.trial import State, Trial
from onceproof.reports.text import cut, line, seconds
from onceproof.reports.write import HTML_FILE

_LONGEST: Final = 240


def waiting(planned: Planned) -> Trial:
    """Return a trial that has not run, or never will."""
    return Trial(
        scenario=planned.scenario.name,
        title=planned.scenario.title,
        subject=planned.scenario.subject.name,
        kinds=planned.kinds,
        backend=planned.backend,
        state=State.WAITING if planned.lacks is None else State.LEFT_OUT,
        remark=planned.lacks,
    )


def reused(planned: Planned, earlier: EarlierRun, page: Path) -> Trial:
    """Return the trial of an earlier run; links are relative to the folder `page`."""
    return replace(_read(planned, earlier, page), state=State.REUSED)


def ran(
    planned: Planned,
    ended: Ended,
    made: Mapping[Path, RunRecord],
    *,
    page: Path,
    code: str,
    stopping: bool,
) -> Trial:
    """Return the trial of a run that has ended.

    Args:
        made: run folders created since the matrix began.
        page: the folder that links are relative to.
        code: version of the code when the matrix began.
    """
    found = latest(planned, made)
    if found is not None and found.finished:
        theirs = found.record.versions.get("code")
        other = f"it ran with different code ({theirs}) than the matrix started with"
        return replace(
            _read(planned, found, page), state=State.RUN, remark=other if theirs != code else None
        )
    trial = waiting(planned) if found is None else _read(planned, found, page)
    if stopping:
        return replace(trial, claims=(), state=State.WAITING, remark="interrupted")
    return replace(trial, claims=(), state=State.FAILED, remark=_describe_end(ended))


def exit_code(trials: Iterable[Trial]) -> int:
    """Return the most severe exit code, as `onceproof run` does; ignore trials left out."""
    codes = [_code(trial) for trial in trials if trial.state is not State.LEFT_OUT]
    return worst(codes) if codes else NOTHING_JUDGED


def _code(trial: Trial) -> int:
    if trial.judged:
        unexpected = code_of_unexpected(c.verdict for c in trial.claims if not c.expected)
        return unexpected if trial.claims else NOTHING_JUDGED
    return {State.WAITING: INTERRUPTED, State.FAILED: TROUBLE}.get(trial.state, 0)


def _read(planned: Planned, earlier: EarlierRun, page: Path) -> Trial:
    return replace(
        waiting(planned),
        claims=claim_results(earlier.report),
        seconds=earlier.report.run.seconds,
        report=quote(os.path.relpath(earlier.folder / HTML_FILE, page)),
    )


def _describe_end(ended: Ended) -> str:
    """Describe how a process without a report ended, with its last output."""
    log = Path(ended.log.parent.name, ended.log.name)
    if ended.overdue:
        return f"ended after its time limit of {seconds(ended.job.seconds)}; see {log}"
    how = f"signal {-ended.code}" if ended.code < 0 else f"exit code {ended.code}"
    last = _last_line(ended.log)
    return f"ended early with {how}{f' and last output: {last}' if last else ''}; see {log}"


def _last_line(log: Path) -> str:
    try:
        lines = [text for text in log.read_text(errors="replace").splitlines() if text.strip()]
    except OSError:
        return ""
    return cut(line(lines[-1]), _LONGEST) if lines else ""
