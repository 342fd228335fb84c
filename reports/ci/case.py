"""One claim of one run, as a test case of a build.

There are three ways to be well or not. A claim is as it should be; or it is
not, and that is a finding; or the run did not decide it, and that is trouble, which to try again is
fair. A build that calls trouble a finding teaches people to try findings again.
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
        run: the scenario, and its backend where several were asked for.
        claim: the claim's name; `run` where there is no verdict at all.
        verdict: the verdict; None where there is none.
        expected: whether it is as it should be.
        should_be: what it should be, in words.
        reason: why this verdict, in a sentence.
        witness: sentences of the first findings, if it is not as it should be.
        seed: of the run.
        seconds: how long the run took.
        report: where to read on; empty if there is no report.
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
        """Whether nothing was decided, and to try again is fair."""
        return not self.expected and (self.verdict is None or self.verdict in _UNDECIDED)

    @property
    def text(self) -> str:
        """All there is to say, on as few lines as it takes."""
        return "\n".join(
            [
                f"{self.claim}: {self.verdict or 'no verdict'}, should be {self.should_be}.",
                self.reason,
                *self.witness,
                *([f"report: {self.report}"] if self.report else []),
                *([f"again: {self.repeat}"] if self.repeat else []),
            ]
        )


def cases_of(report: Report, folder: Path, *, run: str | None = None) -> Iterator[Case]:
    """The cases of a run that left a report.

    Args:
        report: it.
        folder: the run folder.
        run: what the run is called; None: as its scenario.
    """
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
    """The cases of one place of a matrix; none where nothing was to be run.

    Args:
        trial: it.
        page: the folder that its link starts from.
        seed: of the matrix.
    """
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
            reason=line(trial.remark or "it was not run"),
            seed=seed,
            seconds=trial.seconds,
            repeat=f"onceproof run {trial.scenario} --seed {seed} --backend {trial.backend}",
        )


def _witness(report: Report, claim: Claim) -> tuple[str, ...]:
    """What refutes it, of each anomaly the first few that lie where the claim looks."""
    found = [some for some in report.findings if claim.name in some.refutes]
    return tuple(
        f"{some.anomaly}: {line(finding.sentence)}"
        for some in found
        for finding in islice((f for f in some.shown if looks_at(claim, some, f)), _WITNESSES)
    )
