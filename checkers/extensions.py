"""Load modules that installed packages add by entry points.

The groups are `onceproof.scenarios`, `onceproof.faults`, `onceproof.anomalies`, `onceproof.outputs`
and `onceproof.report_sections`. A module is treated like a built-in one.
"""

from __future__ import annotations

from functools import cache
from types import ModuleType

from onceproof.outside import entry_points, import_outside


class BadExtension(ImportError):
    """An entry point that cannot be loaded; the message names it and its package."""


def extensions(group: str) -> tuple[ModuleType, ...]:
    return tuple(module for _, module in named_extensions(group))


@cache
def named_extensions(group: str) -> tuple[tuple[str, ModuleType], ...]:
    """Return the modules by name, each with a description of its entry point and package.

    Raises:
        BadExtension: one cannot be imported, or is not a module.
    """
    found = []
    points = entry_points(f"onceproof.{group}")
    if points:
        import_outside()
    for point in sorted(points, key=lambda each: (each.name, each.value)):
        package = point.dist.name if point.dist is not None else "an unknown package"
        where = f"entry point {point.name} = {point.value!r} in onceproof.{group}, of {package}"
        try:
            module = point.load()
        except Exception as error:
            raise BadExtension(f"{where}: {type(error).__name__}: {error}") from error
        if not isinstance(module, ModuleType):
            raise BadExtension(f"{where}: expected a module, found {type(module).__name__}")
        found.append((where, module))
    return tuple(found)
