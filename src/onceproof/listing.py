"""Format the output of `onceproof list`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from onceproof.checkers import Claim
from onceproof.harness.schedule.scenario import Scenario


def listing(scenarios: Sequence[Scenario]) -> Iterator[str]:
    """Yield lines that describe each scenario: title, subject, faults in order, needs, claims."""
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
    if scenario.draw is not None:
        return scenario.draw.describe()
    return ", ".join(f"{at.name} ({at.do.kind})" for at in scenario.schedule) or "none"


def needs_of(scenario: Scenario) -> str:
    """Return what a stage must offer to run all faults, and the versions that are set."""
    faults = {need for at in scenario.schedule for need in at.needs} - scenario.subject.offers
    words = sorted(faults | scenario.needs)
    if scenario.draw is not None:
        words.append("whatever the drawn faults need")
    if scenario.transaction_version is not None:
        words.append(f"transaction.version {scenario.transaction_version}")
    words += [f"{name} {version}" for name, version in scenario.subject.needs_versions.items()]
    return ", ".join(words) or "nothing"


def expected_of(claim: Claim) -> str:
    """Return the expected verdict and anomalies, in words."""
    if claim.expect is None:
        return "no expectation"
    by = ", ".join(sorted(claim.expect.anomalies))
    may = ", ".join(sorted(claim.expect.may))
    also = f", maybe also {may}" if may else ""
    return f"{claim.expect.verdict}{f' by {by}' if by else ''}{also}"
