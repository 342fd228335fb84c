"""Generate the reference page of all scenarios: `python -m onceproof.scenarios_page`."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Final

from onceproof.harness.schedule.scenario import Scenario
from onceproof.listing import expected_of, faults_of, needs_of
from onceproof.scenarios import all_scenarios

_HEAD: Final = """\
<!-- Made by `make reference`; do not edit. -->

# Scenarios

`onceproof run NAME` runs a scenario, `onceproof list WORD` finds one. The local backend offers
everything that a scenario needs. Faults that another backend does not support are left out, and the
run says so. Each claim has an expected verdict; a run exits with 0 if all verdicts are as expected.
"""


def page(scenarios: Iterable[Scenario]) -> str:
    parts = [_HEAD]
    for scenario in scenarios:
        parts.append(
            f"\n## {scenario.name}\n\n{scenario.title}.\n\n"
            f"* subject: {scenario.subject.name}. {scenario.subject.says}\n"
            f"* workload: {scenario.workload.records:,} records by {scenario.sender.name}, "
            f"about {scenario.seconds} s\n"
            f"* faults: {faults_of(scenario)}\n"
            f"* needs: {needs_of(scenario)}\n"
        )
        parts += [f"* {claim.name}: **{expected_of(claim)}**\n" for claim in scenario.claims]
    return "".join(parts)


if __name__ == "__main__":
    sys.stdout.write(page(all_scenarios()))
