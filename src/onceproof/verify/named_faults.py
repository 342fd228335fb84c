"""Replace the faults of a plan by those that the user names, one by one or in a schedule file."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from typing import Final

from onceproof.harness.faults.base import Fault
from onceproof.harness.faults.by_hand import asked
from onceproof.harness.faults.links.cut_link import CutLink
from onceproof.harness.faults.pause import Pause
from onceproof.harness.faults.targets.program import Program
from onceproof.harness.faults.targets.spark_driver import SparkDriver
from onceproof.harness.faults.until import Acknowledged, TookEffect
from onceproof.harness.schedule.as_json import schedule_from_json
from onceproof.harness.schedule.scenario import ScheduledFault
from onceproof.verify.options import BadTrial, VerifyOptions

_BEGIN: Final = 0.05
_LONG: Final = 400
"""Records acknowledged while a fault lasts that has no end of its own."""


def named(options: VerifyOptions) -> bool:
    return bool(options.faults) or options.schedule is not None


def schedule_of(options: VerifyOptions) -> tuple[ScheduledFault, ...]:
    """Return the faults that the user names.

    Raises:
        UnknownFault: there is no such fault.
        BadTrial, BadSchedule: the file cannot be read, or has no valid schedule.
    """
    if options.schedule is None:
        return by_name(options.faults)
    try:
        return schedule_from_json(json.loads(options.schedule.read_text()))
    except OSError as error:
        raise BadTrial(
            f"{options.schedule} cannot be read: {error.strerror}; expected a file with a "
            "schedule in the form of `plan` in run.json"
        ) from error
    except ValueError as error:
        raise BadTrial(
            f"{options.schedule}: {error}; expected a schedule in the form of `plan` in run.json"
        ) from error


def _lasts(fault: Fault) -> bool:
    """Whether a fault works by its duration, so that it must not end as soon as it takes effect."""
    paused = isinstance(fault, Pause) and isinstance(fault.target, Program | SparkDriver)
    return paused or isinstance(fault, CutLink)


def by_name(faults: Sequence[str]) -> tuple[ScheduledFault, ...]:
    """Schedule faults given as for `onceproof fault`; raise `UnknownFault` for an unknown one."""
    found: list[ScheduledFault] = []
    for number, text in enumerate(faults, 1):
        name, *words = shlex.split(text) or [""]
        fault = asked(name, words)
        found.append(
            ScheduledFault(
                name=f"{number}: {text}",
                progress=0.0 if found else _BEGIN,
                after=(found[-1].name,) if found else (),
                do=fault,
                until=Acknowledged(records=_LONG) if _lasts(fault) else TookEffect(),
            )
        )
    return tuple(found)
