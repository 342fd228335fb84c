"""Convert a schedule to JSON and back; the run folder keeps it for replays.

Each dataclass is written as its class name and fields, so a new fault needs no change here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from onceproof.harness.faults.modules import by_name, fault_classes
from onceproof.harness.schedule.scenario import ScheduledFault

_CLASS = "is"


class BadSchedule(ValueError):
    """Not a schedule of this version; the text says where and what is wrong."""


def schedule_to_json(schedule: Iterable[ScheduledFault]) -> list[dict[str, Any]]:
    return [_to_json(at) for at in schedule]


def schedule_from_json(lines: Sequence[object]) -> tuple[ScheduledFault, ...]:
    """Read a schedule that `schedule_to_json` wrote.

    Raises:
        BadSchedule: a line is not a fault, or names a class that this version does not have.
    """
    found = []
    for number, line in enumerate(lines, 1):
        at = _from_json(line, f"line {number}")
        if not isinstance(at, ScheduledFault):
            raise BadSchedule(f"line {number}: expected a scheduled fault, found {line!r}")
        found.append(at)
    return tuple(found)


def _to_json(value: Any) -> Any:
    if is_dataclass(value):
        values = {f.name: _to_json(getattr(value, f.name)) for f in fields(value)}
        return {_CLASS: type(value).__name__, **values}
    if isinstance(value, tuple):
        return [_to_json(each) for each in value]
    if value is None or isinstance(value, (str, int, float)):
        return value
    raise TypeError(f"{value!r} cannot be stored in a schedule: expected plain data")


def _from_json(value: Any, where: str) -> Any:
    if isinstance(value, list):
        return tuple(_from_json(each, f"{where}[{place}]") for place, each in enumerate(value))
    if not isinstance(value, dict):
        return value
    name = value.get(_CLASS)
    class_ = _classes().get(name) if isinstance(name, str) else None
    if class_ is None:
        raise BadSchedule(f"{where}: this version of onceproof does not know {name!r}")
    values = {
        key: _from_json(each, f"{where}.{key}") for key, each in value.items() if key != _CLASS
    }
    try:
        return class_(**values)
    except (TypeError, ValueError) as error:
        raise BadSchedule(f"{where}: {name}: {error}") from None


@cache
def _classes() -> dict[str, type]:
    """Return every dataclass that a schedule may contain, by name.

    Raises:
        BadExtension: two have the same name.
    """
    kinds: list[type] = [ScheduledFault, *(kind for kind in fault_classes() if is_dataclass(kind))]
    found = by_name(((kind.__name__, kind) for kind in kinds), "classes of a schedule")
    return found | {"At": ScheduledFault}  # its name in runs of earlier versions
