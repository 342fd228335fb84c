"""Split brokers and clients into two sides that cannot reach each other.

The side with more brokers continues; clients on the other side reach only fenced brokers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import RunContext, addresses
from onceproof.harness.faults.links.cut_links import Severed
from onceproof.harness.faults.words import Word
from onceproof.harness.kafka.metadata import ClusterView
from onceproof.harness.links.topology import node_id
from onceproof.harness.processes.trouble import StageTrouble

_SIDE: Final = Word("PARTY,…", lambda word: tuple(sorted(set(word.split(",")))))


@dataclass(frozen=True, kw_only=True)
class Split:
    """Split brokers, and audiences with them, into two groups that cannot reach each other."""

    example: ClassVar[str] = "split broker-1,producer broker-2,broker-3"
    kind: ClassVar[str] = "partition"
    needs = "links"
    one: Annotated[tuple[str, ...], _SIDE]
    other: Annotated[tuple[str, ...], _SIDE]

    def __post_init__(self) -> None:
        """Raise `ValueError` for a party on both sides."""
        if both := set(self.one) & set(self.other):
            raise ValueError(f"{_words(both)} cannot be on both sides")

    def describe(self) -> str:
        return f"split {_words(self.one)} from {_words(self.other)}"

    def inject(self, context: RunContext, name: str) -> Severed:
        one, other = set(self.one), set(self.other)
        links = [
            link
            for link in context.stage.links()
            if {link.source, link.target} & one and {link.source, link.target} & other
        ]
        parties = {end for link in context.stage.links() for end in (link.source, link.target)}
        if strange := (one | other) - parties:
            raise StageTrouble(f"there is no {_words(strange)}; there are {_words(parties)}")
        brokers = set(context.stage.brokers)
        smaller, larger = sorted((one & brokers, other & brokers), key=len)
        return Severed(
            context,
            links,
            f"{_words(self.one)} | {_words(self.other)}",
            consequence=_Left(context, smaller, larger) if smaller else None,
        )


class _Left:
    """The larger side's view of the brokers on the other side."""

    def __init__(self, context: RunContext, smaller: set[str], larger: set[str]) -> None:
        ways = {node_id(broker) for broker in larger}
        self._view = ClusterView({n: at for n, at in addresses(context.stage).items() if n in ways})
        self._smaller = smaller

    def __call__(self, since: int) -> str | None:
        if not all(self._view.does_without(node_id(broker)) for broker in self._smaller):
            return None
        return (
            f"the other side took {_words(self._smaller)} out of every in-sync set after "
            f"{(now() - since) / 1e9:.1f} s"
        )


def _words(parties: Iterable[str]) -> str:
    return ", ".join(sorted(parties))
