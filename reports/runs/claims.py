"""What runs say of claims, and those claims together that came out alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from onceproof.checkers.model import Verdict
from onceproof.reports.model import Claim, Report

_ORDER = list(Verdict)


@dataclass(frozen=True, kw_only=True)
class ClaimResult:
    """The result of one claim in one run.

    Attributes:
        name: of the claim.
        verdict: the verdict.
        expected: whether it came out as it should; without an expectation it should hold.
        should_be: what it should be, in words.
        reason: why this verdict, in a sentence.
        refuted_by: the anomalies that refute it.
    """

    name: str
    verdict: Verdict
    expected: bool
    should_be: str
    reason: str
    refuted_by: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a claim came out, and how often.

    Attributes:
        verdict: its verdict.
        by: the anomalies that refuted it.
        expected: whether that is as it should be.
        should_be: what it should be, in words.
        count: in how many runs.
    """

    verdict: Verdict
    by: tuple[str, ...]
    expected: bool
    should_be: str
    count: int


@dataclass(frozen=True, kw_only=True)
class Same:
    """Claims that came out the same way the same number of times.

    Attributes:
        outcomes: how; the unexpected first.
        names: of the claims; those of the same stretch are one.
    """

    outcomes: tuple[Outcome, ...]
    names: tuple[str, ...]

    @property
    def expected(self) -> bool:
        """Whether they came out as they should in each run."""
        return all(outcome.expected for outcome in self.outcomes)


def claim_results(report: Report) -> tuple[ClaimResult, ...]:
    """The result of each claim in a report."""
    return tuple(_claim_result(claim) for claim in report.claims)


def _claim_result(claim: Claim) -> ClaimResult:
    should_be = str(Verdict.HOLDS)
    if claim.expectation is not None:
        by = ", ".join(claim.expectation.anomalies)
        should_be = f"{claim.expectation.verdict}{f' by {by}' if by else ''}"
    holds = claim.verdict is Verdict.HOLDS
    return ClaimResult(
        name=claim.name,
        verdict=claim.verdict,
        expected=holds if claim.expected is None else claim.expected,
        should_be=should_be,
        reason=claim.reason,
        refuted_by=claim.refuted_by,
    )


def alike(runs: Iterable[Sequence[ClaimResult]]) -> tuple[Same, ...]:
    """What runs of one scenario say of each claim; the unexpected first, then by verdict."""
    counted: dict[str, Counter[tuple[bool, int, tuple[str, ...], str]]] = {}
    for claims in runs:
        for claim in claims:
            should_be = "" if claim.expected else claim.should_be
            key = (claim.expected, _ORDER.index(claim.verdict), claim.refuted_by, should_be)
            counted.setdefault(claim.name, Counter())[key] += 1
    same: dict[tuple[tuple[tuple[bool, int, tuple[str, ...], str], int], ...], list[str]] = {}
    for name, outcomes in counted.items():
        same.setdefault(tuple(sorted(outcomes.items())), []).append(name)
    return tuple(
        Same(
            outcomes=tuple(
                Outcome(
                    verdict=_ORDER[place], by=by, expected=expected, should_be=should_be, count=n
                )
                for (expected, place, by, should_be), n in outcomes
            ),
            names=together(names),
        )
        for outcomes, names in sorted(same.items())
    )


def together(names: Iterable[str]) -> tuple[str, ...]:
    """`at-most-once a → b` and `exactly-once a → b` are `at-most-once, exactly-once a → b`."""
    stretches: dict[str, list[str]] = {}
    for name in names:
        guarantee, _, stretch = name.partition(" ")
        stretches.setdefault(stretch, []).append(guarantee)
    return tuple(f"{', '.join(words)} {stretch}" for stretch, words in stretches.items())
