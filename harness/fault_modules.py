"""The modules that define faults: those in `harness/faults/`, then those of other packages."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from types import ModuleType

from onceproof.checkers.extensions import extensions
from onceproof.harness import faults


@cache
def fault_modules() -> tuple[ModuleType, ...]:
    """Each of them, imported, in the order of their names.

    Raises:
        BadExtension: a module of another package cannot be imported.
    """
    names = sorted(module.name for module in pkgutil.iter_modules(faults.__path__))
    ours = [importlib.import_module(f"{faults.__name__}.{name}") for name in names]
    return (*ours, *extensions("faults"))
