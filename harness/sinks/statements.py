"""A PostgreSQL ledger whose rows include the account's running balance.

Each row is an effect, and the newest row of an account is its state. They are two sinks, because a
complete ledger may still have wrong balances.
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
    """The table `ledger`, with the running balance and number of payments in each row."""

    def states(self) -> list[State]:
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
