"""Split brokers and clients into two sides that cannot reach each other.

The side with more brokers continues; clients on the other side reach only fenced brokers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import RunContext, addresses
from onceproof.harness.faults.links.cut_links import CutLinksInjection
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
            raise ValueError(f"{_names(both)} cannot be on both sides")

    def describe(self) -> str:
        return f"split {_names(self.one)} from {_names(self.other)}"

    def inject(self, context: RunContext, name: str) -> CutLinksInjection:
        one, other = set(self.one), set(self.other)
        links = [
            link
            for link in context.stage.links()
            if {link.source, link.target} & one and {link.source, link.target} & other
        ]
        parties = {end for link in context.stage.links() for end in (link.source, link.target)}
        if unknown := (one | other) - parties:
            raise StageTrouble(f"unknown party {_names(unknown)}: expected {_names(parties)}")
        brokers = set(context.stage.brokers)
        smaller, larger = sorted((one & brokers, other & brokers), key=len)
        return CutLinksInjection(
            context,
            links,
            f"{_names(self.one)} | {_names(self.other)}",
            consequence=_Left(context, smaller, larger) if smaller else None,
        )


class _Left:
    """The larger side's view of the brokers on the other side."""

    def __init__(self, context: RunContext, smaller: set[str], larger: set[str]) -> None:
        ids = {node_id(broker) for broker in larger}
        self._view = ClusterView({n: at for n, at in addresses(context.stage).items() if n in ids})
        self._smaller = smaller

    def __call__(self, since: int) -> str | None:
        if not all(self._view.does_without(node_id(broker)) for broker in self._smaller):
            return None
        return (
            f"the other side removed {_names(self._smaller)} from every in-sync set after "
            f"{(now() - since) / 1e9:.1f} s"
        )


def _names(parties: Iterable[str]) -> str:
    return ", ".join(sorted(parties))
