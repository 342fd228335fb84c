"""One claim of one run, as a test case of a build.

A claim is as expected, or a finding (decided, and not as expected), or trouble (undecided). Only
trouble is worth a retry: reporting it as a finding would teach people to retry findings.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from onceproof.checkers.model import Verdict
from onceproof.reports.model import Claim, Report
from onceproof.reports.runs.claims import claim_results
from onceproof.reports.runs.trial import State, Trial
from onceproof.reports.scopes import looks_at
from onceproof.reports.text import line
from onceproof.reports.write import HTML_FILE, load

_UNDECIDED: Final = frozenset(
    {Verdict.INVALID, Verdict.STALLED, Verdict.UNKNOWN, Verdict.UNEXERCISED}
)
_WITNESSES: Final = 3


@dataclass(frozen=True, kw_only=True)
class Case:
    """One claim of one run.

    Attributes:
        run: the scenario, with its backend if there are several.
        claim: the claim's name; `run` if there is no verdict.
        verdict: None if there is none.
        should_be: the expected verdict, as text.
        witness: sentences of the first findings, unless it is as expected.
        seconds: duration of the run.
        report: path of the report; empty if there is none.
        repeat: the command that repeats the run.
    """

    run: str
    claim: str
    verdict: Verdict | None
    expected: bool
    should_be: str
    reason: str
    witness: tuple[str, ...] = ()
    seed: int = 0
    seconds: float | None = None
    report: str = ""
    repeat: str = ""

    @property
    def trouble(self) -> bool:
        """Whether nothing was decided, so that a retry is justified."""
        return not self.expected and (self.verdict is None or self.verdict in _UNDECIDED)

    @property
    def text(self) -> str:
        """Verdict, reason, witness, report and command, one per line."""
        return "\n".join(
            [
                f"{self.claim}: {self.verdict or 'no verdict'}, should be {self.should_be}.",
                self.reason,
                *self.witness,
                *([f"report: {self.report}"] if self.report else []),
                *([f"repeat: {self.repeat}"] if self.repeat else []),
            ]
        )


def cases_of(report: Report, folder: Path, *, run: str | None = None) -> Iterator[Case]:
    """Yield the cases of a run with a report; `run` is its name, by default the scenario's."""
    for claim, whole in zip(claim_results(report), report.claims, strict=True):
        yield Case(
            run=run or report.run.scenario,
            claim=line(claim.name),
            verdict=claim.verdict,
            expected=claim.expected,
            should_be=claim.should_be,
            reason=line(claim.reason),
            witness=() if claim.expected else _witness(report, whole),
            seed=report.run.seed,
            seconds=report.run.seconds,
            report=str(folder / HTML_FILE),
            repeat=report.run.repeat,
        )


def cases_of_trial(trial: Trial, *, page: Path, seed: int) -> Iterator[Case]:
    """Yield the cases of a trial, whose link is relative to `page`; none if it was left out."""
    run = f"{trial.scenario} on {trial.backend}"
    if trial.judged and trial.report is not None:
        folder = (page / unquote(trial.report)).parent
        found = load(folder)
        yield from cases_of(found, folder, run=run)
    elif trial.state is not State.LEFT_OUT:
        yield Case(
            run=run,
            claim="run",
            verdict=None,
            expected=False,
            should_be="a verdict",
            reason=line(trial.remark or "the scenario was not run"),
            seed=seed,
            seconds=trial.seconds,
            repeat=f"onceproof run {trial.scenario} --seed {seed} --backend {trial.backend}",
        )


def _witness(report: Report, claim: Claim) -> tuple[str, ...]:
    """Return the first sentences of each anomaly that refutes the claim, where the claim looks."""
    found = [some for some in report.findings if claim.name in some.refutes]
    return tuple(
        f"{some.anomaly}: {line(finding.sentence)}"
        for some in found
        for finding in islice((f for f in some.shown if looks_at(claim, some, f)), _WITNESSES)
    )
