"""What `onceproof list` prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checkers import Claim
from harness.scenario import Scenario


def listing(scenarios: Sequence[Scenario]) -> Iterator[str]:
    """Lines that tell each scenario: story, subject, faults in order, claims and expectations."""
    for scenario in scenarios:
        yield f"{scenario.name}  (about {scenario.seconds} s)"
        yield f"    {scenario.title}"
        yield f"    subject  {scenario.subject.name}"
        faults = [f"{at.name} ({at.do.kind})" for at in scenario.schedule]
        drawn = scenario.draw.describe() if scenario.draw is not None else "none"
        yield f"    faults   {', '.join(faults) or drawn}"
        for place, claim in enumerate(scenario.claims):
            yield f"    {'claims ' if not place else '       '}  {claim.name}: {_expected(claim)}"
        yield ""


def _expected(claim: Claim) -> str:
    if claim.expect is None:
        return "no expectation"
    by = ", ".join(sorted(claim.expect.anomalies))
    return f"{claim.expect.verdict}{f' by {by}' if by else ''}"
