"""What `onceproof list` prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from onceproof.checkers import Claim
from onceproof.harness.schedule.scenario import Scenario


def listing(scenarios: Sequence[Scenario]) -> Iterator[str]:
    """Lines that tell each scenario: story, subject, faults in order, needs, claims."""
    for scenario in scenarios:
        yield f"{scenario.name}  (about {scenario.seconds} s)"
        yield f"    {scenario.title}"
        yield f"    subject  {scenario.subject.name}"
        yield f"    faults   {faults_of(scenario)}"
        yield f"    needs    {needs_of(scenario)}"
        for place, claim in enumerate(scenario.claims):
            name = f"{claim.name}: {expected_of(claim)}"
            yield f"    {'claims ' if not place else '       '}  {name}"
        yield ""


def faults_of(scenario: Scenario) -> str:
    """Its faults, in order, with their kinds."""
    if scenario.draw is not None:
        return scenario.draw.describe()
    return ", ".join(f"{at.name} ({at.do.kind})" for at in scenario.schedule) or "none"


def needs_of(scenario: Scenario) -> str:
    """What a stage must offer so that nothing of it is left out, and which version it is set to."""
    faults = {need for at in scenario.schedule for need in at.needs} - scenario.subject.offers
    words = sorted(faults | scenario.needs)
    if scenario.draw is not None:
        words.append("what is drawn needs")
    if scenario.transaction_version is not None:
        words.append(f"transaction.version {scenario.transaction_version}")
    return ", ".join(words) or "nothing"


def expected_of(claim: Claim) -> str:
    """The verdict that is expected, and by which anomalies."""
    if claim.expect is None:
        return "no expectation"
    by = ", ".join(sorted(claim.expect.anomalies))
    may = ", ".join(sorted(claim.expect.may))
    also = f", maybe also {may}" if may else ""
    return f"{claim.expect.verdict}{f' by {by}' if by else ''}{also}"
