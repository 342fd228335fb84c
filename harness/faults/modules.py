"""Find the modules that define faults: in `harness/faults/`, its subfolders and other packages."""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType

from onceproof.checkers.extensions import BadExtension, extensions
from onceproof.checkers.scan import modules
from onceproof.harness import faults


def fault_modules() -> tuple[ModuleType, ...]:
    """Import and return these modules, sorted; raise `BadExtension` if one cannot be imported."""
    top = modules(faults.__name__)
    rooms = [each for each in top if hasattr(each, "__path__")]
    inside = [each for room in rooms for each in modules(room.__name__)]
    return (*top, *inside, *extensions("faults"))


def fault_classes() -> tuple[type, ...]:
    """Return all classes defined in these modules, or in submodules of another package's module."""
    found = {
        value: None
        for module in fault_modules()
        for value in vars(module).values()
        if isinstance(value, type) and f"{value.__module__}.".startswith(f"{module.__name__}.")
    }
    return tuple(found)


def by_name(pairs: Iterable[tuple[str, type]], what: str) -> dict[str, type]:
    """Return classes by name, sorted; raise `BadExtension` if two have the same name."""
    found: dict[str, type] = {}
    for name, kind in pairs:
        other = found.setdefault(name, kind)
        if other is not kind:
            both = " and ".join(f"{each.__module__}.{each.__qualname__}" for each in (other, kind))
            raise BadExtension(
                f"two {what} are called {name}: {both}; rename one, or uninstall its package"
            )
    return dict(sorted(found.items()))
