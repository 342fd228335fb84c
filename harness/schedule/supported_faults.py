"""What can be done where not everything is offered: by a stage, or by a subject."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from onceproof.harness.faults.base import Fault
from onceproof.harness.schedule.scenario import OPTIONAL, Scenario, ScheduledFault
from onceproof.harness.tools.error import SetupError


def is_supported(fault: Fault, offered: Set[str]) -> bool:
    return fault.needs in (None, *offered)


def offered_to(scenario: Scenario, offered: Set[str]) -> Set[str]:
    """What there is for a scenario's faults: of the stage as it needs it, and of its subject."""
    return (offered - (OPTIONAL - scenario.needs)) | scenario.subject.offers


def with_supported_faults(
    scenario: Scenario, offered: Set[str]
) -> tuple[Scenario, tuple[ScheduledFault, ...]]:
    """The scenario without the faults that the stage does not offer, and those faults.

    What was to come after one of them comes after what that one was to come after. Claims stay as
    they are: a hazard that nothing brings about any more leaves a claim unexercised, as it should.

    Raises:
        SetupError: the stage lacks what the scenario cannot do without.
    """
    if missing := scenario.needs - offered:
        raise SetupError(
            f"{scenario.name} needs {' and '.join(sorted(missing))}, which this stage does not "
            "offer. The local backend does: leave --backend and --secured out."
        )
    offered = offered_to(scenario, offered)
    left_out = {at.name: at for at in scenario.schedule if not offered >= set(at.needs)}

    def after(names: tuple[str, ...]) -> tuple[str, ...]:
        found: dict[str, None] = {}
        for name in names:
            earlier = after(left_out[name].after) if name in left_out else (name,)
            found.update(dict.fromkeys(earlier))
        return tuple(found)

    kept = tuple(
        replace(at, after=after(at.after)) for at in scenario.schedule if at.name not in left_out
    )
    return replace(scenario, schedule=kept), tuple(left_out.values())
