"""What to try. One file per story; a file adds its scenarios by naming them in `SCENARIOS`."""

from __future__ import annotations

import importlib
import pkgutil

from harness.scenario import Scenario


def all_scenarios() -> tuple[Scenario, ...]:
    """Every scenario of this folder, the flagship first, then by file and place in it."""
    found = list(flagship())
    for module in sorted(m.name for m in pkgutil.iter_modules(__path__)):
        if module != "flagship":
            found += importlib.import_module(f"{__name__}.{module}").SCENARIOS
    return tuple(found)


def flagship() -> tuple[Scenario, ...]:
    """The three scenarios that `onceproof run` runs when none is named."""
    scenarios: tuple[Scenario, ...] = importlib.import_module(f"{__name__}.flagship").SCENARIOS
    return scenarios
