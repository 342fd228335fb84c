"""What a subject must make of payments: effects, or contributions to state.

Contributions are stated for each payment. The checkers add them up over the committed input log, so
the total is right even if payments were lost or duplicated on the way to it. A match of two
payments is due when both are in the log. It is stated for the first, so no fault may permanently
lose the second.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from onceproof.harness.workload.payments import Payment


@dataclass(frozen=True, kw_only=True)
class Contribution:
    """A row of the `contributions` table, without the record."""

    sink: str
    state_key: str
    aggregate: str
    operation: Literal["sum", "count"]
    amount: int | None = None


class Transforms(Protocol):
    """What a workload needs of a subject to compute the expected contents of its sinks."""

    @property
    def sinks(self) -> tuple[str, ...]:
        """The sinks in which each input must have effects."""

    def yields(self, payments: Sequence[Payment]) -> Iterable[tuple[str, str]]:
        """Yield record and content digest of each payment that has an effect in every sink.

        `payments` are those of one producer.
        """

    def contributions(self, payment: Payment) -> Iterable[Contribution]:
        """Yield what a committed payment adds to the keys of the sinks."""


def total_and_count(
    sink: str, state_key: str, payment: Payment, *, total: str = "balance"
) -> Iterator[Contribution]:
    """Yield the amount for the aggregate `total`, and 1 for the aggregate `payments`."""
    yield Contribution(
        sink=sink,
        state_key=state_key,
        aggregate=total,
        operation="sum",
        amount=payment.amount_cents,
    )
    yield Contribution(sink=sink, state_key=state_key, aggregate="payments", operation="count")
