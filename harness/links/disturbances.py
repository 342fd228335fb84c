"""Track which faults disturb which proxies, so that faults on one link can overlap.

Each disturbance has its own hold. A proxy is enabled only if no hold cuts it, and each toxic
belongs to one hold, so holds can be released in any order. The owner of the proxies applies this.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

Way = Literal["requests", "responses"]
"""A direction of a link: from source to target, or back."""


@dataclass(frozen=True, kw_only=True)
class CutConnections:
    """Close all connections and refuse new ones."""


@dataclass(frozen=True, kw_only=True)
class Toxic:
    """A toxic on one direction, with toxiproxy's type and attributes."""

    type: str
    way: Way
    attributes: Mapping[str, int]


Disturbance = CutConnections | Toxic
CUT: Final = CutConnections()


def lose(way: Way) -> Toxic:
    """Drop every byte of one direction; connections stay open until it is undone."""
    return Toxic(type="timeout", way=way, attributes={"timeout": 0})


@dataclass(frozen=True)
class Hold:
    """A held disturbance.

    `release` undoes it, unless another hold needs it, and verifies that. It is idempotent and can
    be retried after a failure.
    """

    release: Callable[[], None]

    def __enter__(self) -> Hold:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """The desired state of a proxy: whether it is enabled, and its toxics by name."""

    enabled: bool
    toxics: Mapping[str, Toxic]


class Ledger:
    """All disturbances that are held."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._held: dict[int, tuple[frozenset[str], Disturbance]] = {}

    def note(self, proxies: Iterable[str], how: Disturbance) -> int:
        """Add a hold on some proxies and return its number."""
        number = next(self._numbers)
        self._held[number] = (frozenset(proxies), how)
        return number

    def strike(self, number: int) -> None:
        self._held.pop(number, None)

    def wanted(self, proxy: str) -> Wanted:
        """Return the state of a proxy that satisfies all holds."""
        held = {n: how for n, (proxies, how) in self._held.items() if proxy in proxies}
        return Wanted(
            enabled=CUT not in held.values(),
            toxics={
                f"{how.type}-{how.way}-{n}": how
                for n, how in held.items()
                if isinstance(how, Toxic)
            },
        )
