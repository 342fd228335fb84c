"""Results of claims over many runs, with claims of the same result grouped."""

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
        expected: whether the verdict is the expected one; without an expectation, whether it holds.
        should_be: the expected verdict and anomalies, as text.
    """

    name: str
    verdict: Verdict
    expected: bool
    should_be: str
    reason: str
    refuted_by: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """A result of a claim, in `count` runs.

    Attributes:
        by: the anomalies that refuted the claim.
        should_be: the expected verdict and anomalies, as text; empty if as expected.
    """

    verdict: Verdict
    by: tuple[str, ...]
    expected: bool
    should_be: str
    count: int


@dataclass(frozen=True, kw_only=True)
class SameOutcomes:
    """Claims with the same outcomes, each the same number of times.

    Attributes:
        outcomes: unexpected ones first.
        names: of the claims; those that differ only in the guarantee share one name.
    """

    outcomes: tuple[Outcome, ...]
    names: tuple[str, ...]

    @property
    def expected(self) -> bool:
        """Whether every run had the expected result."""
        return all(outcome.expected for outcome in self.outcomes)


def claim_results(report: Report) -> tuple[ClaimResult, ...]:
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


def alike(runs: Iterable[Sequence[ClaimResult]]) -> tuple[SameOutcomes, ...]:
    """Group the claims of a scenario's runs by outcome: unexpected ones first, then by verdict."""
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
        SameOutcomes(
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
    """Join `at-most-once a → b` and `exactly-once a → b` to `at-most-once, exactly-once a → b`."""
    by_scope: dict[str, list[str]] = {}
    for name in names:
        guarantee, _, scope = name.partition(" ")
        by_scope.setdefault(scope, []).append(guarantee)
    return tuple(f"{', '.join(words)} {scope}" for scope, words in by_scope.items())
