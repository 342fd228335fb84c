"""What payments add to the state that a subject ends in.

The one thing to know: it is said of each payment alone, and added up by the checkers over what the
input's log has committed. So it is right whatever the run did to the payments on their way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from harness.workload.payments import Payment


@dataclass(frozen=True, kw_only=True)
class Contribution:
    """A row of the `contributions` table, whose record is the payment's."""

    sink: str
    state_key: str
    aggregate: str
    operation: Literal["sum", "count"]
    amount: int | None = None


@runtime_checkable
class KeepsState(Protocol):
    """A subject that says itself what a payment adds to its state."""

    def contributions(self, payment: Payment) -> Iterable[Contribution]:
        """What a committed payment adds to which keys of which sink."""


def total_and_count(
    sink: str, state_key: str, payment: Payment, *, total: str = "balance"
) -> Iterator[Contribution]:
    """A payment's amount, to the sum that `total` names, and itself, to the number of payments."""
    yield Contribution(
        sink=sink,
        state_key=state_key,
        aggregate=total,
        operation="sum",
        amount=payment.amount_cents,
    )
    yield Contribution(sink=sink, state_key=state_key, aggregate="payments", operation="count")
