"""Plan a trial: choose the hazards that a pipeline has, and schedule the faults that cause them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from onceproof.harness.faults.targets.program_commit import KILLED_AT_WORK
from onceproof.harness.schedule.scenario import ScheduledFault
from onceproof.verify.hazards.hazard import Hazard, Pipeline, Strike
from onceproof.verify.hazards.registry import TABLE

STANDARD: Final = "standard"
BRUTAL: Final = "brutal"
ROUNDS: Final[Mapping[str, int]] = {"gentle": 1, STANDARD: 3, BRUTAL: 5}
"""How often each hazard is triggered, by preset."""
_RARE: Final[Mapping[str, int]] = {"gentle": 1, STANDARD: 1, BRUTAL: 3}
"""The same for rare hazards."""
_BEGIN: Final = 0.02
_TRIES: Final = 3
"""How often a strike is tried until its hazard occurs."""
_SECONDS: Final = 30.0
"""Time for a strike to take effect, in addition to the interval between two commits."""
_TOGETHER: Final[Mapping[str, str]] = {
    "leader-killed": KILLED_AT_WORK,
    "coordinator-killed": "stopped-with-work",
    "cut-off": "evicted",
}
"""Broker fault → program fault that happen together in rounds of `brutal` after the first."""
ALL: Final = "all"
"""Stands for the names of all hazards."""
_Step = list[tuple[Hazard, str, Strike]]
"""Strikes that happen together, each with its hazard and its number within the fault's name."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The faults and hazards of a trial.

    Attributes:
        schedule: the faults, in sequence, some at the same time.
        hazards: those that must occur before a claim holds.
        accepted: those that the pipeline has but that need not occur.
        absent: hazards that are not tested → why.
    """

    schedule: tuple[ScheduledFault, ...]
    hazards: tuple[Hazard, ...]
    accepted: tuple[Hazard, ...]
    absent: Mapping[str, str]


def plan(pipeline: Pipeline, preset: str, accepted: Collection[str] = ()) -> Plan:
    """Plan a trial; `accepted` names hazards that need not occur, or contains `ALL`."""
    absent = {}
    for hazard in TABLE:
        if (why := hazard.unless(pipeline)) is not None:
            absent[hazard.name] = why
        elif hazard.brutal and preset != BRUTAL:
            absent[hazard.name] = f"only --preset {BRUTAL} tests it"
    present = [hazard for hazard in TABLE if hazard.name not in absent]
    return Plan(
        schedule=_schedule(pipeline, preset, present),
        hazards=tuple(hazard for hazard in present if not _is_accepted(hazard, accepted)),
        accepted=tuple(hazard for hazard in present if _is_accepted(hazard, accepted)),
        absent=absent,
    )


def _is_accepted(hazard: Hazard, accepted: Collection[str]) -> bool:
    return ALL in accepted or hazard.name in accepted


def _schedule(pipeline: Pipeline, preset: str, present: list[Hazard]) -> tuple[ScheduledFault, ...]:
    found: list[ScheduledFault] = []
    before: tuple[str, ...] = ()
    for n in range(ROUNDS[preset]):
        steps = [
            [(hazard, f"{n + 1}.{number}" if len(strikes) > 1 else str(n + 1), strike)]
            for hazard in present
            if not hazard.rare or n < _RARE[preset]
            for strikes in [hazard.strikes(pipeline, n)]
            for number, strike in enumerate(strikes, 1)
        ]
        steps = _side_by_side(steps)
        for step in _combined(steps) if preset == BRUTAL and n else steps:
            faults = [
                _fault(pipeline, hazard, part, strike, before) for hazard, part, strike in step
            ]
            found += faults
            before = tuple(fault.name for fault in faults)
    return tuple(found)


def _fault(
    pipeline: Pipeline, hazard: Hazard, part: str, strike: Strike, before: tuple[str, ...]
) -> ScheduledFault:
    return ScheduledFault(
        name=f"{hazard.name} {part}",
        progress=0.0 if before else _BEGIN,
        after=before,
        do=strike.do,
        until=strike.until,
        required=False,
        seconds=_SECONDS + (pipeline.profile.commit_seconds or 0.0) + strike.seconds,
        hazard=hazard.name,
        tells=strike.tells,
        tries=_TRIES,
    )


def _side_by_side(steps: Iterable[_Step]) -> list[_Step]:
    """Merge neighbouring steps whose hazards can be triggered together."""
    found: list[_Step] = []
    for alike, of in groupby(steps, key=lambda step: step[0][0].side_by_side):
        some = list(of)
        found += [[part for step in some for part in step]] if alike else some
    return found


def _combined(steps: list[_Step]) -> list[_Step]:
    """Merge some faults of the program into the step in which a broker is gone."""
    first = {step[0][0].name: step for step in reversed(steps)}
    for broker, program in _TOGETHER.items():
        if broker in first and program in first:
            first[program].extend(first[broker])
            steps = [step for step in steps if step is not first[broker]]
    return steps
