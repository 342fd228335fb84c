"""Describe and take over a transactional id through its transaction coordinator.

A client that sends InitProducerId becomes the owner. The epoch of the previous owner is then too
low, and its next request is fenced.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from kafka.protocol.admin import DescribeTransactionsRequest, DescribeTransactionsResponse
from kafka.protocol.producer import (
    EndTxnRequest,
    EndTxnResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
)

from onceproof.harness.kafka.coordinator import Coordinator, Refused
from onceproof.harness.kafka.errors import error_name

ONGOING: Final = "Ongoing"
ENDING: Final = frozenset({"PrepareCommit", "PrepareAbort", "PrepareEpochFence"})
"""States in which a transaction is decided but not all its markers are written."""
_DESCRIBE, _INIT, _END = 0, 4, 2
_TIMEOUT_MS: Final = 60_000
_NOT_FOUND: Final = 105


@dataclass(frozen=True, kw_only=True)
class Owned:
    """A producer id and its epoch."""

    producer_id: int
    epoch: int

    def __str__(self) -> str:
        return f"producer {self.producer_id} epoch {self.epoch}"


@dataclass(frozen=True, kw_only=True)
class Transaction:
    """The newest transaction of a transactional id, and its owner."""

    state: str
    owner: Owned
    timeout_ms: int
    partitions: tuple[tuple[str, int], ...]


class TransactionalId:
    """One transactional id.

    All methods raise `Overdue` if no coordinator answers in time. `describe` and `take` raise
    `Refused` if the broker answers with an error.
    """

    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator

    @property
    def name(self) -> str:
        return self._coordinator.name

    def describe(self) -> Transaction | None:
        """Return the newest transaction; None if the id never had an owner."""
        found, code = self._coordinator.ask(
            DescribeTransactionsRequest(transactional_ids=[self.name]),
            version=_DESCRIBE,
            answer=DescribeTransactionsResponse,
            code=lambda answer: int(answer.transaction_states[0].error_code),
        )
        if code == _NOT_FOUND:
            return None
        if code:
            raise Refused(f"describing transactional id {self.name}: {error_name(code)}")
        state = found.transaction_states[0]
        return Transaction(
            state=str(state.transaction_state),
            owner=Owned(producer_id=int(state.producer_id), epoch=int(state.producer_epoch)),
            timeout_ms=int(state.transaction_timeout_ms),
            partitions=tuple(
                sorted((str(t.topic), int(p)) for t in state.topics for p in t.partitions)
            ),
        )

    def take(self) -> Owned:
        """Become the owner; an open transaction is aborted first."""
        found, code = self._coordinator.ask(
            InitProducerIdRequest(transactional_id=self.name, transaction_timeout_ms=_TIMEOUT_MS),
            version=_INIT,
            answer=InitProducerIdResponse,
            code=lambda answer: int(answer.error_code),
        )
        if code:
            raise Refused(f"taking over transactional id {self.name}: {error_name(code)}")
        return Owned(producer_id=int(found.producer_id), epoch=int(found.producer_epoch))

    def refusal(self, owner: Owned) -> str | None:
        """Send an abort as `owner`; return the coordinator's error, or None.

        If the owner is not fenced, this aborts its open transaction.
        """
        request = EndTxnRequest(
            transactional_id=self.name,
            producer_id=owner.producer_id,
            producer_epoch=owner.epoch,
            committed=False,
        )
        _, code = self._coordinator.ask(
            request,
            version=_END,
            answer=EndTxnResponse,
            code=lambda answer: int(answer.error_code),
        )
        return error_name(code) if code else None
