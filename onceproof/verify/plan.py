"""The hazard plan of a trial: which hazards a pipeline has, and the schedule that brings them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from harness.scenario import At
from onceproof.verify.hazards import TABLE, Hazard, Pipeline

STANDARD: Final = "standard"
BRUTAL: Final = "brutal"
ROUNDS: Final[Mapping[str, int]] = {"gentle": 1, STANDARD: 3, BRUTAL: 5}
"""How often each hazard is met, by preset."""
_RARE: Final[Mapping[str, int]] = {"gentle": 1, STANDARD: 1, BRUTAL: 3}
"""How often those that take long are."""
PRESETS: Final = tuple(ROUNDS)
_BEGIN: Final = 0.02
_TRIES: Final = 3
"""How often a strike is tried until its hazard was met."""
_SECONDS: Final = 30.0
"""How long one strike may take to have an effect."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a trial does, and what it cannot do.

    Attributes:
        schedule: the faults, one after the other.
        hazards: those that must be met before a claim holds.
        accepted: those that the pipeline has, and that may stay unmet.
        absent: those that it does not have → why.
    """

    schedule: tuple[At, ...]
    hazards: tuple[Hazard, ...]
    accepted: tuple[Hazard, ...]
    absent: Mapping[str, str]


def plan(pipeline: Pipeline, preset: str, accepted: Collection[str] = ()) -> Plan:
    """The plan for a pipeline.

    Args:
        pipeline: what is known of it.
        preset: a name of `PRESETS`.
        accepted: names of hazards that may stay unmet.
    """
    absent = {}
    for hazard in TABLE:
        if (why := hazard.unless(pipeline)) is not None:
            absent[hazard.name] = why
        elif hazard.brutal and preset != BRUTAL:
            absent[hazard.name] = f"only --preset {BRUTAL} brings it"
    present = [hazard for hazard in TABLE if hazard.name not in absent]
    return Plan(
        schedule=_schedule(pipeline, preset, present),
        hazards=tuple(hazard for hazard in present if hazard.name not in accepted),
        accepted=tuple(hazard for hazard in present if hazard.name in accepted),
        absent=absent,
    )


def _schedule(pipeline: Pipeline, preset: str, present: list[Hazard]) -> tuple[At, ...]:
    found: list[At] = []
    for n in range(ROUNDS[preset]):
        for hazard in present:
            if hazard.rare and n >= _RARE[preset]:
                continue
            strikes = hazard.strikes(pipeline, n)
            for number, strike in enumerate(strikes, 1):
                part = f"{n + 1}.{number}" if len(strikes) > 1 else str(n + 1)
                found.append(
                    At(
                        name=f"{hazard.name} {part}",
                        progress=0.0 if found else _BEGIN,
                        after=(found[-1].name,) if found else (),
                        do=strike.do,
                        until=strike.until,
                        required=False,
                        seconds=_SECONDS,
                        hazard=hazard.name,
                        tells=strike.tells,
                        tries=_TRIES,
                    )
                )
    return tuple(found)
