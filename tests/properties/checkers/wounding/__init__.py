"""Wounds: what can go wrong in a history, one kind in each file, made at every kind of place.

The one thing to know: a new wound is an entry in a file's `WOUNDS`, a new kind of wound a new file
here; nothing else has to be told.
"""

from __future__ import annotations

from itertools import chain
from random import Random
from typing import Final, cast

from onceproof.checkers.scan import members
from tests.properties.checkers.world import World
from tests.properties.checkers.wounding.base import Wound

__all__ = ["WOUNDS", "Wound", "wounded"]

WOUNDS: Final[dict[str, Wound]] = {
    wound.name: wound
    for wound in chain.from_iterable(cast("tuple[tuple[Wound, ...]]", members(__name__, "WOUNDS")))
}
"""All wounds by name."""


def wounded(world: World, names: list[str], seed: int) -> tuple[World, dict[str, str]]:
    """A copy with these wounds, and at what kind of place each was made, if there was one."""
    copy, draw = world.copy(), Random(seed)
    made = {}
    for name in names:
        place = WOUNDS[name].make(copy, draw)
        if place is not None:
            made[name] = place
    return copy, made
