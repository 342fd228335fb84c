"""The table of a matrix as Markdown, for the documentation; without links to the run folders."""

from __future__ import annotations

import re
from collections.abc import Iterator

from onceproof.reports.runs.claims import alike
from onceproof.reports.runs.grid import table
from onceproof.reports.runs.summary import headline, unexpected
from onceproof.reports.runs.trial import Backend, Matrix, State, Trial
from onceproof.reports.text import line, listed, plural, seconds

_IMAGE = "image of "
"""Prefix of the key that records the version of a container image."""
_ACTIVE = re.compile(r"([\\`*_{}\[\]<>|])")


def markdown(matrix: Matrix) -> str:
    return "\n".join(_lines(matrix)) + "\n"


def _lines(matrix: Matrix) -> Iterator[str]:
    yield "<!-- Made by `make matrix` from real runs; do not edit. -->"
    yield ""
    yield "# The matrix"
    yield ""
    yield f"**{_plain(headline(matrix))}.** {_about(matrix)}"
    yield ""
    yield (
        "Rows are subjects, columns are kinds of faults. Each cell lists its scenarios with the "
        "verdict on each claim: ✓ as the scenario expects, ✗ not as expected."
    )
    for backend in matrix.backends:
        yield ""
        yield _backend(backend, matrix)
    found = table(matrix.trials)
    if found.rows:
        yield ""
        yield f"| subject | {' | '.join(found.columns)} |"
        yield f"| --- |{' --- |' * len(found.columns)}"
    for row in found.rows:
        cells = ("<br>".join(_trial(trial, matrix) for trial in cell) for cell in row.cells)
        yield f"| **{_plain(row.subject)}** | {' | '.join(cells)} |"
    wrong = unexpected(matrix.trials)
    if wrong:
        yield ""
        yield "## Not as expected"
        yield ""
    for trial in wrong:
        yield from _why(trial)


def _about(matrix: Matrix) -> str:
    versions = matrix.versions
    software = ", ".join(
        f"{name} {versions[key]}"
        for name, key in (("Kafka", "kafka"), ("Spark", "pyspark"), ("onceproof", "code"))
        if key in versions
    )
    images = ", ".join(
        sorted({of.partition(" ")[0] for name, of in versions.items() if name.startswith(_IMAGE)})
    )
    return (
        f"{matrix.scope} with seed {matrix.seed}, started {matrix.started_at}, "
        f"{matrix.at_once} at a time, in {seconds(matrix.seconds)}"
        f"{f', on {software}' if software else ''}"
        f"{f'; in containers of {_plain(images)}' if images else ''}."
        f"{_earlier(matrix)}"
    )


def _earlier(matrix: Matrix) -> str:
    """Say how many runs were reused, since the matrix's duration does not include them."""
    reused = len(matrix.all_of(State.REUSED))
    were = "was" if reused == 1 else "were"
    return f" {plural(reused, 'run')} of the same code {were} reused." if reused else ""


def _backend(backend: Backend, matrix: Matrix) -> str:
    if backend.missing is not None:
        return f"Backend {backend.name}: not run. {_plain(backend.missing)}"
    mine = [trial for trial in matrix.trials if trial.backend == backend.name]
    left_out = [trial for trial in mine if trial.state is State.LEFT_OUT]
    text = f"Backend {backend.name}: {plural(len(mine) - len(left_out), 'scenario')}."
    if left_out:
        why = ", ".join(sorted({trial.remark or "" for trial in left_out}))
        text += f" {len(left_out)} left out: {_plain(why)}."
    return text


def _trial(trial: Trial, matrix: Matrix) -> str:
    several = sum(backend.missing is None for backend in matrix.backends) > 1
    name = _plain(trial.scenario) + (f" ({trial.backend})" if several else "")
    if not trial.judged:
        return f"*{name}*: {trial.state}"
    outcomes = "; ".join(
        f"{'✓' if outcome.expected else '✗'} {outcome.verdict}"
        f"{f' by {_plain(listed(outcome.by))}' if outcome.by else ''}"
        f" ({_plain('; '.join(same.names))})"
        for same in alike([trial.claims])
        for outcome in same.outcomes
    )
    return f"*{name}*: {outcomes or 'no claim was judged'}"


def _why(trial: Trial) -> Iterator[str]:
    yield f"* {_plain(trial.scenario)} ({trial.backend})" + (
        f": {_plain(trial.remark)}" if trial.remark else ""
    )
    for claim in trial.claims:
        if not claim.expected:
            yield (
                f"  * {_plain(claim.name)}: {claim.verdict}, should be {_plain(claim.should_be)}. "
                f"{_plain(claim.reason)}"
            )


def _plain(text: str) -> str:
    """Put text on one line and escape Markdown."""
    return _ACTIVE.sub(r"\\\1", line(text))
