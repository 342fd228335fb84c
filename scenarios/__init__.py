"""What to try. One file per story; a file adds its scenarios by naming them in `SCENARIOS`.

`flagship` is a file and, from here, a function. The file is imported first,
because an import binds its name in the package.
"""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

from onceproof.harness.scenario import Scenario
from onceproof.scenarios.flagship import SCENARIOS as _FLAGSHIP


def all_scenarios() -> tuple[Scenario, ...]:
    """Every scenario of this folder, the flagship first, then by file and place in it."""
    found = list(_FLAGSHIP)
    for module in sorted(m.name for m in pkgutil.iter_modules([str(Path(__file__).parent)])):
        if module != "flagship":
            found += importlib.import_module(f"{__name__}.{module}").SCENARIOS
    return tuple(found)


def flagship() -> tuple[Scenario, ...]:
    """The three scenarios that `onceproof run` runs when none is named."""
    return _FLAGSHIP
