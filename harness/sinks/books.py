"""A ledger and its balances in a database that speaks SQL, whichever.

The ledger has one row for each payment, the balances one for each account;
they are two sinks, since a balance tells nothing of any one payment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from onceproof.harness.history.identity import digest
from onceproof.harness.sinks.base import AtomicBatch, Effect, State

LEDGER: Final = "ledger"
BALANCES: Final = "balances"
VIEW: Final = "table"
"""Who looks: any reader of the tables."""
_LEDGER: Final = """
SELECT seq, record, account, amount_cents, fee_cents, source_partition, source_offset
FROM ledger ORDER BY seq
"""
_BALANCES: Final = "SELECT account, balance, payments FROM balances ORDER BY account"


class Books:
    """The tables `ledger` and `balances`."""

    name = LEDGER

    def __init__(
        self,
        rows: Callable[[str], list[tuple[Any, ...]]],
        *,
        topic: str,
        owner: str,
        hanging: Callable[[], bool],
    ) -> None:
        """Look into them.

        Args:
            rows: answers a query.
            topic: where their inputs come from.
            owner: who writes them.
            hanging: whether a transaction of somebody else is open.
        """
        self._rows = rows
        self._topic = topic
        self._owner = owner
        self._hanging = hanging

    def size(self) -> int:
        """The newest row's number."""
        return int(self._rows("SELECT coalesce(max(seq), 0) FROM ledger")[0][0])

    def effects(self) -> list[Effect]:
        """One effect a row of the ledger."""
        return [
            Effect(
                sink=LEDGER,
                view=VIEW,
                record=record,
                effect_key="",
                digest=digest(record, account, amount, fee),
                position=f"{LEDGER} row {seq}",
                ordinal=seq,
                source_topic=self._topic,
                source_partition=partition,
                source_offset=offset,
                owner=self._owner,
            )
            for seq, record, account, amount, fee, partition, offset in self._rows(_LEDGER)
        ]

    def states(self) -> list[State]:
        """Balance and number of payments of each account."""
        return list(self._states())

    def atomic_batches(self) -> list[AtomicBatch]:
        """None: there are no batches, and offsets are read by who watches the pipeline."""
        return []

    def hanging(self) -> bool:
        """Whether a transaction of somebody else is open."""
        return self._hanging()

    def _states(self) -> Iterator[State]:
        for account, balance, payments in self._rows(_BALANCES):
            for aggregate, amount in (("balance", balance), ("payments", payments)):
                yield State(
                    sink=BALANCES,
                    view=VIEW,
                    state_key=account,
                    aggregate=aggregate,
                    amount=amount,
                )
