"""A few scenarios that speak for all: one or two of each family of subjects.

Subjects whose code is in one file are a family, and so are those that say so
of themselves. Of each, the cheapest scenario that disturbs it and expects it to keep its word is
taken, and, as far as time allows, the cheapest that expects a claim to be violated: a checker that
never convicts has shown nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from onceproof.checkers import Claim, Verdict
from onceproof.harness.context.subject import Subject
from onceproof.harness.schedule.scenario import Scenario

QUICK_SECONDS: Final = 720.0
"""What a sample may add up to, each run timed alone: under ten minutes when two run at a time."""


def sample(scenarios: Iterable[Scenario], seconds: float = QUICK_SECONDS) -> tuple[Scenario, ...]:
    """One scenario of each family, and a second while all together take no more than `seconds`."""
    known = tuple(scenarios)
    families: dict[str, list[Scenario]] = {}
    for scenario in known:
        families.setdefault(family_of(scenario.subject), []).append(scenario)
    first = [min(family, key=_dearness) for family in families.values()]
    left = seconds - sum(scenario.seconds for scenario in first)
    names = {scenario.name for scenario in first}
    for second in sorted(_convicted(families.values(), names), key=lambda s: s.seconds):
        if second.seconds <= left:
            left -= second.seconds
            names.add(second.name)
    return tuple(scenario for scenario in known if scenario.name in names)


def family_of(subject: Subject) -> str:
    """What it is spoken for by."""
    return str(getattr(subject, "family", type(subject).__module__))


def _dearness(scenario: Scenario) -> tuple[bool, bool, bool, int]:
    """Small for who is disturbed, keeps its word, has a schedule of its own, and is quick."""
    disturbed = bool(scenario.schedule or scenario.draw)
    verdicts = _verdicts(scenario)
    tested = bool(verdicts & {Verdict.HOLDS, Verdict.VIOLATED})
    return (
        not (disturbed and tested),
        verdicts != {Verdict.HOLDS},
        scenario.draw is not None,
        scenario.seconds,
    )


def _convicted(families: Iterable[Sequence[Scenario]], taken: set[str]) -> Iterable[Scenario]:
    """The cheapest of each family that is to be convicted, where none that is taken is."""
    for family in families:
        found = [s for s in family if Verdict.VIOLATED in _verdicts(s)]
        if found and not taken & {s.name for s in found}:
            yield min(found, key=lambda s: s.seconds)


def _verdicts(scenario: Scenario) -> set[Verdict]:
    return {_expected(claim) for claim in scenario.claims}


def _expected(claim: Claim) -> Verdict:
    return claim.expect.verdict if claim.expect else Verdict.HOLDS
