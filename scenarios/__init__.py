"""What to try. One file per story; a file adds its scenarios by naming them in `SCENARIOS`.

`flagship` is a file and, from here, a function. The file is imported first,
because an import binds its name in the package.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import cast

from onceproof.checkers.scan import members
from onceproof.harness.schedule.scenario import Scenario
from onceproof.scenarios.flagship import SCENARIOS as _FLAGSHIP


def all_scenarios() -> tuple[Scenario, ...]:
    """Every scenario of this folder, the flagship first, then by file and place in it."""
    others = (each for each in members(__name__, "SCENARIOS") if each is not _FLAGSHIP)
    return (*_FLAGSHIP, *chain.from_iterable(cast("Iterator[tuple[Scenario, ...]]", others)))


def flagship() -> tuple[Scenario, ...]:
    """The three scenarios that `onceproof run` runs when none is named."""
    return _FLAGSHIP
