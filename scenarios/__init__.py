"""onceproof's own scenarios, one file per topic; each file lists its scenarios in `SCENARIOS`.

`flagship` is a module and, in this package, also a function: the module is imported first, because
an import binds its name in the package.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import cast

from onceproof.checkers.scan import members
from onceproof.harness.schedule.scenario import Scenario
from onceproof.scenarios.flagship import SCENARIOS as _FLAGSHIP


def all_scenarios() -> tuple[Scenario, ...]:
    """Return every scenario of this package: the flagship first, then by file and place."""
    others = (each for each in members(__name__, "SCENARIOS") if each is not _FLAGSHIP)
    return (*_FLAGSHIP, *chain.from_iterable(cast("Iterator[tuple[Scenario, ...]]", others)))


def flagship() -> tuple[Scenario, ...]:
    """Return the three scenarios that `onceproof run` runs by default."""
    return _FLAGSHIP
