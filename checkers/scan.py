"""Find the members of an open set: every module of a package with a certain constant.

A new file is a new member. The order is that of the file names, independent of imports.
"""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType


def modules(package: str) -> tuple[ModuleType, ...]:
    """Import and return the modules of `package`, by name."""
    paths = importlib.import_module(package).__path__
    names = sorted(module.name for module in pkgutil.iter_modules(paths))
    return tuple(importlib.import_module(f"{package}.{name}") for name in names)


def member_modules(package: str, constant: str) -> tuple[ModuleType, ...]:
    """Return the modules of `package` except `base` and private ones.

    Raises:
        TypeError: one of them does not have the constant.
    """
    found = []
    for module in modules(package):
        name = module.__name__.rpartition(".")[2]
        if name.startswith("_") or name == "base":
            continue
        if not hasattr(module, constant):
            raise TypeError(
                f"{module.__file__}: expected a constant {constant}, as in the modules beside it; "
                "add it, or move the file elsewhere"
            )
        found.append(module)
    return tuple(found)


def members(package: str, constant: str) -> tuple[object, ...]:
    return tuple(getattr(module, constant) for module in member_modules(package, constant))
