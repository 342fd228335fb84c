"""The modules that define faults: `harness/faults/`, its `targets/`, those of other packages."""

from __future__ import annotations

from types import ModuleType

from onceproof.checkers.extensions import extensions
from onceproof.checkers.scan import modules
from onceproof.harness import faults
from onceproof.harness.faults import targets


def fault_modules() -> tuple[ModuleType, ...]:
    """Each of them, imported, in the order of their names.

    Raises:
        BadExtension: a module of another package cannot be imported.
    """
    return (*modules(faults.__name__), *modules(targets.__name__), *extensions("faults"))
