"""Choose a small sample: one or two scenarios of each family of subjects.

Subjects in one module are a family; a subject may also name its family. The sample takes the
quickest scenario of each that has faults and expects `holds`. If time allows, it adds the quickest
that expects `violated`, because a checker that never finds anything proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from onceproof.checkers import Claim, Verdict
from onceproof.harness.context.subject import Subject
from onceproof.harness.schedule.scenario import Scenario

QUICK_SECONDS: Final = 720.0
"""Total duration of a sample, run one by one: under ten minutes with two in parallel."""


def sample(scenarios: Iterable[Scenario], seconds: float = QUICK_SECONDS) -> tuple[Scenario, ...]:
    """Return one scenario of each family, and second ones while the total is within `seconds`."""
    known = tuple(scenarios)
    families: dict[str, list[Scenario]] = {}
    for scenario in known:
        families.setdefault(family_of(scenario.subject), []).append(scenario)
    first = [min(family, key=_cost) for family in families.values()]
    left = seconds - sum(scenario.seconds for scenario in first)
    names = {scenario.name for scenario in first}
    for second in sorted(_quickest_violated(families.values(), names), key=lambda s: s.seconds):
        if second.seconds <= left:
            left -= second.seconds
            names.add(second.name)
    return tuple(scenario for scenario in known if scenario.name in names)


def family_of(subject: Subject) -> str:
    return str(getattr(subject, "family", type(subject).__module__))


def _cost(scenario: Scenario) -> tuple[bool, bool, bool, int]:
    """Sort key: first scenarios with faults that hold, have a fixed schedule, and are quick."""
    disturbed = bool(scenario.schedule or scenario.draw)
    verdicts = _verdicts(scenario)
    tested = bool(verdicts & {Verdict.HOLDS, Verdict.VIOLATED})
    return (
        not (disturbed and tested),
        verdicts != {Verdict.HOLDS},
        scenario.draw is not None,
        scenario.seconds,
    )


def _quickest_violated(
    families: Iterable[Sequence[Scenario]], taken: set[str]
) -> Iterable[Scenario]:
    """Yield the quickest violated scenario of each family that has none in `taken`."""
    for family in families:
        found = [s for s in family if Verdict.VIOLATED in _verdicts(s)]
        if found and not taken & {s.name for s in found}:
            yield min(found, key=lambda s: s.seconds)


def _verdicts(scenario: Scenario) -> set[Verdict]:
    return {_expected(claim) for claim in scenario.claims}


def _expected(claim: Claim) -> Verdict:
    return claim.expect.verdict if claim.expect else Verdict.HOLDS
