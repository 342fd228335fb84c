"""Select the faults of a scenario that its stage and subject support."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from onceproof.harness.faults.base import Fault
from onceproof.harness.schedule.scenario import OPTIONAL, Scenario, ScheduledFault
from onceproof.harness.tools.error import SetupError


def is_supported(fault: Fault, offered: Set[str]) -> bool:
    return fault.needs in (None, *offered)


def offered_to(scenario: Scenario, offered: Set[str]) -> Set[str]:
    """Return what faults of a scenario can use: parts of its stage, and offers of its subject."""
    return (offered - (OPTIONAL - scenario.needs)) | scenario.subject.offers


def with_supported_faults(
    scenario: Scenario, offered: Set[str]
) -> tuple[Scenario, tuple[ScheduledFault, ...]]:
    """Return the scenario without unsupported faults, and those faults.

    A fault that was to follow an unsupported one follows that one's predecessors instead. Claims
    are unchanged: a claim whose hazard can no longer occur is judged `unexercised`.

    Raises:
        SetupError: the stage lacks something that the scenario requires.
    """
    if missing := scenario.needs - offered:
        raise SetupError(
            f"{scenario.name} needs {' and '.join(sorted(missing))}, which this stage does not "
            "offer. Use the local backend: omit --backend and --secured."
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
