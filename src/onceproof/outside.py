"""Import from the environment in which the user started onceproof, if it is not this one.

There are the packages that the user's own files import, and those that extend onceproof. Packages
of this environment come first.
"""

from __future__ import annotations

import os
import sys
from importlib.metadata import EntryPoint, distributions
from typing import Final

CALLER_PATH: Final = "ONCEPROOF_CALLER_PATH"
"""Variable with the import path of the user's environment; not set if it is this one."""


def outside() -> list[str]:
    return [entry for entry in os.environ.get(CALLER_PATH, "").split(os.pathsep) if entry]


def import_outside() -> None:
    """Let this process import what only the user's environment has."""
    sys.path += [entry for entry in outside() if entry not in sys.path]


def entry_points(group: str) -> list[EntryPoint]:
    """Return the entry points of a group of both environments, each distribution once."""
    names: set[str] = set()
    found: list[EntryPoint] = []
    for distribution in (*distributions(), *distributions(path=outside())):
        name = distribution.metadata["Name"]
        if name in names:
            continue
        names.add(name)
        found += [point for point in distribution.entry_points if point.group == group]
    return found
