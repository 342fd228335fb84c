"""Hold a transaction open beyond its `transaction.timeout.ms`.

Its EndTxn, commit or abort, is held until the coordinator has aborted the transaction and bumped
the epoch. The late request must then be refused and the owner fenced: a program that assumes the
commit, or continues with the same producer, is wrong. The default timeout is one minute.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import ClassVar

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.cluster.coordinated import Tested, transactional_id_of
from onceproof.harness.faults.links.probed_link import wait_mended
from onceproof.harness.faults.messages.message import AtGates, met
from onceproof.harness.faults.words import TransactionalId
from onceproof.harness.kafka.transactions import ENDING, ONGOING, Transaction
from onceproof.harness.links.gate.client import Event
from onceproof.harness.links.gate.rules import MessageMatch
from onceproof.harness.links.topology import AUDIENCES


@dataclass(frozen=True, kw_only=True)
class TimeOutTransaction:
    """Hold the end of a transaction until its coordinator has aborted it: what comes late must be
    refused, and its owner fenced.
    """

    example: ClassVar[str] = "time-out-transaction payments-writer"
    kind: ClassVar[str] = "timeout"
    needs = "gates"
    transactional_id: TransactionalId
    tested: Tested = "produce"
    """The hop of the claims that its owner tests."""

    def describe(self) -> str:
        return (
            f"hold the end of the next transaction of {self.transactional_id} until its "
            "coordinator has timed it out"
        )

    def inject(self, context: RunContext, name: str) -> _Waiting:
        return _Waiting(context, self, name)


class _Waiting:
    def __init__(self, context: RunContext, fault: TimeOutTransaction, name: str) -> None:
        self._context = context
        self._fault = fault
        self._id = fault.transactional_id
        self._name = name
        self.target = f"transactional id {self._id}"
        self.at: int | None = None
        end = MessageMatch(direction="request", api="EndTxn", transactional_id=self._id)
        rule = end.rule("hold", times=None)  # its owner retries
        self._gates: list[AtGates] = []
        with ExitStack() as undo:
            for audience in AUDIENCES:
                gates = AtGates(context, audience, rule)
                undo.callback(gates.remove)
                self._gates.append(gates)
            undo.pop_all()  # from here on, healing removes them
        self._held: Event | None = None
        self._open: Transaction | None = None
        self._ends: dict[tuple[str, int], int] = {}
        self._proof: str | None = None

    def evidence(self) -> str | None:
        if self._proof is None and self._is_held_open():
            self._proof = self._timed_out()
        return self._proof

    def heal(self) -> None:
        """Release what is held, and wait until the links work."""
        for gates in self._gates:
            gates.remove()
        for gates in self._gates:
            wait_mended(self._context, gates.links)

    def _is_held_open(self) -> bool:
        """Whether its EndTxn is held; the transaction is read when it first is."""
        if self._open is not None:
            return True
        fired = sorted((e for g in self._gates for e in g.fired()), key=lambda e: int(e["at"]))
        if not fired:
            return False
        with transactional_id_of(self._context, self._id) as known:
            transaction = known.describe()
        if transaction is None or transaction.state != ONGOING:
            return False
        self._held, self._open = fired[0], transaction
        self.at = int(fired[0]["at"])
        with self._context.reader() as reader:
            self._ends = reader.high_watermarks(transaction.partitions)
        return True

    def _timed_out(self) -> str | None:
        """Return proof that the coordinator aborted it; None while it has not."""
        assert self._open is not None, "its end is held"
        assert self._held is not None, "its end is held"
        with transactional_id_of(self._context, self._id) as known:
            transaction = known.describe()
        if (
            transaction is None
            or transaction.owner == self._open.owner
            or transaction.state in {ONGOING, *ENDING}
        ):
            return None
        if not self._aborted_everywhere():
            return None
        seconds = (now() - int(self._held["at"])) / 1e9
        proof = (
            f"held: {met(self._held)}; the transaction of {self._open.owner} with a timeout of "
            f"{self._open.timeout_ms / 1000:g} s was {self._open.state.lower()}; after "
            f"{seconds:.1f} s it was {transaction.state} with {transaction.owner}, and had an "
            f"abort marker in each of its {len(self._open.partitions)} partitions"
        )
        self._context.recorder.hazard(
            "timed-out-transaction",
            hop=self._fault.tested,
            fault=self._name,
            owner=self._id,
            at=self.at,
            detail=proof,
        )
        return proof

    def _aborted_everywhere(self) -> bool:
        assert self._open is not None
        producer_id = self._open.owner.producer_id
        with self._context.reader() as reader:
            return all(
                any(
                    entry.kind == "abort" and entry.producer_id == producer_id
                    for entry in reader.read(*at, start=end).entries
                )
                for at, end in self._ends.items()
            )
