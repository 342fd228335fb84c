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

`onceproof run NAME` runs one, `onceproof list WORD` finds one. What a scenario needs is offered by
a stage of processes; what another stage does not offer is left out, and said. What is expected of a
claim is what a run is measured by: it ends with 0 when all came out so.
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
