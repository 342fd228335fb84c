"""What payments must come to in a subject: effects, or what adds to a state.

What adds to a state is said of each payment alone, and added up by the
checkers over what the input's log has committed. So it is right whatever the run did to the
payments on their way. A match of two payments is due when both of them are in the log; it is said
of the first, so nothing may be done to the second for good.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from onceproof.harness.workload.payments import Payment


@dataclass(frozen=True, kw_only=True)
class Contribution:
    """A row of the `contributions` table, whose record is the payment's."""

    sink: str
    state_key: str
    aggregate: str
    operation: Literal["sum", "count"]
    amount: int | None = None


class Transforms(Protocol):
    """What a workload asks a subject, to say what must be in its sinks."""

    @property
    def sinks(self) -> tuple[str, ...]:
        """Everything that each input must have its effects in."""

    def yields(self, payments: Sequence[Payment]) -> Iterable[tuple[str, str]]:
        """Which of one producer's payments have an effect in each of its sinks, each with the
        digest of its content.
        """

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
