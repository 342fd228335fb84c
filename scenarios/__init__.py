"""What to try. One file per story; a file adds its scenarios by naming them in `SCENARIOS`.

The one thing to know: `flagship` is a file and, from here, a function. The file is imported first,
because an import binds its name in the package.
"""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

from harness.scenario import Scenario
from scenarios.flagship import SCENARIOS as _FLAGSHIP

# A project may have a folder of this name that is no package by itself: what is in it is found as
# well, behind ours. Of packages with an `__init__.py` the first on the path is taken, as ever.
__path__ = pkgutil.extend_path(__path__, __name__)


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
