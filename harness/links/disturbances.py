"""Who disturbs what: each disturbance of a proxy is held by somebody until that one lets go.

Nobody undoes what another one holds. A proxy is enabled only when nobody
wants it closed, and a toxic belongs to one hold alone, so faults on one link come and go in any
order. This only keeps the books; who owns the proxies makes them so.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

Way = Literal["requests", "responses"]
"""One direction of a link: from its source to its target, or back."""


@dataclass(frozen=True, kw_only=True)
class Cut:
    """Connections closed, new ones refused."""


@dataclass(frozen=True, kw_only=True)
class Toxic:
    """What a toxic does to one direction; type and attributes are toxiproxy's."""

    type: str
    way: Way
    attributes: Mapping[str, int]


Disturbance = Cut | Toxic
CUT: Final = Cut()


def lose(way: Way) -> Toxic:
    """Every byte of one direction swallowed; the connections stay until it is undone."""
    return Toxic(type="timeout", way=way, attributes={"timeout": 0})


@dataclass(frozen=True)
class Hold:
    """One disturbance, as the one who wanted it holds it.

    `release` undoes it, as far as nobody else holds the same, and sees that it is so. Called again
    it does no harm, and goes on where it failed.
    """

    release: Callable[[], None]

    def __enter__(self) -> Hold:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """How a proxy has to be: enabled or not, and its toxics by name."""

    enabled: bool
    toxics: Mapping[str, Toxic]


class Ledger:
    """Every disturbance that is held."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._held: dict[int, tuple[frozenset[str], Disturbance]] = {}

    def note(self, proxies: Iterable[str], how: Disturbance) -> int:
        """Somebody disturbs some proxies; the number is theirs."""
        number = next(self._numbers)
        self._held[number] = (frozenset(proxies), how)
        return number

    def strike(self, number: int) -> None:
        """They let go."""
        self._held.pop(number, None)

    def wanted(self, proxy: str) -> Wanted:
        """How a proxy has to be, for all who hold something on it."""
        held = {n: how for n, (proxies, how) in self._held.items() if proxy in proxies}
        return Wanted(
            enabled=CUT not in held.values(),
            toxics={
                f"{how.type}-{how.way}-{n}": how
                for n, how in held.items()
                if isinstance(how, Toxic)
            },
        )
