"""A ledger and its balances in any SQL database.

The ledger has one row per payment, the balances one per account. They are two sinks, because a
balance identifies no single payment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from onceproof.harness.history.identity import digest
from onceproof.harness.sinks.base import AtomicBatch, Effect, State

LEDGER: Final = "ledger"
BALANCES: Final = "balances"
VIEW: Final = "table"
_LEDGER: Final = """
SELECT seq, record, account, amount_cents, fee_cents, source_partition, source_offset
FROM ledger ORDER BY seq
"""
_BALANCES: Final = "SELECT account, balance, payments FROM balances ORDER BY account"


class LedgerAndBalances:
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
        """`rows` executes a query; `hanging` tells whether another client's transaction is open."""
        self._rows = rows
        self._topic = topic
        self._owner = owner
        self._hanging = hanging

    def size(self) -> int:
        return int(self._rows("SELECT coalesce(max(seq), 0) FROM ledger")[0][0])

    def effects(self) -> list[Effect]:
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
        return list(self._states())

    def atomic_batches(self) -> list[AtomicBatch]:
        """Return nothing: there are no batches; the pipeline's observer reads the offsets."""
        return []

    def hanging(self) -> bool:
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
