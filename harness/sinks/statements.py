"""A ledger in PostgreSQL each of whose rows says what its account has by then.

Its rows are effects like those of any ledger, and beside that the newest row
of an account is its state. They are two sinks: that no row is missing says nothing of the balances.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from onceproof.harness.sinks.base import State
from onceproof.harness.sinks.books import BALANCES
from onceproof.harness.sinks.ledger import Ledger

_NEWEST: Final = """
SELECT DISTINCT ON (account) account, balance, payments
FROM ledger ORDER BY account, seq DESC
"""


class Statements(Ledger):
    """The table `ledger`, with balance and number of payments so far in each row."""

    def states(self) -> list[State]:
        """What the newest row of each account says."""
        return list(self._states())

    def _states(self) -> Iterator[State]:
        for account, balance, payments in self.rows(_NEWEST):
            for aggregate, amount in (("balance", balance), ("payments", payments)):
                yield State(
                    sink=BALANCES,
                    view=self._view,
                    state_key=account,
                    aggregate=aggregate,
                    amount=amount,
                )
