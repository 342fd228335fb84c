"""What subjects say themselves of what payments must come to: effects, or what adds to a state.

What adds to a state is said of each payment alone, and added up by the
checkers over what the input's log has committed. So it is right whatever the run did to the
payments on their way. A match of two payments is due when both of them are in the log; it is said
of the first, so nothing may be done to the second for good.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

from onceproof.harness.workload.payments import Payment


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


@runtime_checkable
class Contributes(Protocol):
    """A workload that says itself what its records add to the state of a sink."""

    def contributed(self, *, producer: int, seed: int, sink: str) -> Iterator[dict[str, Any]]:
        """Of one producer's records, as rows of `contributions`."""


@runtime_checkable
class SaysEffects(Protocol):
    """A subject that does not yield one effect of each payment, with its fee."""

    def yields(self, payments: Sequence[Payment]) -> Iterable[tuple[str, str]]:
        """Which records have an effect in its sinks, each with the digest of its content."""


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
