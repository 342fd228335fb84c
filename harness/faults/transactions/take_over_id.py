"""Take over a transactional id, as a second instance does that was started by mistake.

The owner's open transaction is aborted, and the owner must be fenced at its next request: it must
fail and never write or commit again. Its successor must redo its work.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.cluster.coordinated import Tested, transactional_id_of
from onceproof.harness.faults.words import TransactionalId
from onceproof.harness.kafka.transactions import ENDING, ONGOING
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.wait import wait_until


@dataclass(frozen=True, kw_only=True)
class TakeOverId:
    """Take over a transactional id: its open transaction is aborted, and its owner must be
    fenced.
    """

    example: ClassVar[str] = "take-over-id payments-writer"
    kind: ClassVar[str] = "crash"  # to its owner, like a successor after a crash
    needs = None
    transactional_id: TransactionalId
    tested: Tested = "produce"
    """The hop of the claims that its owner tests."""

    def describe(self) -> str:
        return f"take over transactional id {self.transactional_id}"

    def inject(self, context: RunContext, name: str) -> _TakenOver:
        return _TakenOver(context, self, name)


class _TakenOver:
    def __init__(self, context: RunContext, fault: TakeOverId, name: str) -> None:
        self._context = context
        self._fault = fault
        self._id = fault.transactional_id
        self._name = name
        self.target = f"transactional id {self._id}"
        with transactional_id_of(context, self._id) as known:
            before = known.describe()
            if before is None:
                raise StageTrouble(f"{self.target} has no owner: nothing to take over")
            self._before = before
            self.at = now()
            self._ours = known.take()
        self._proof: str | None = None

    def evidence(self) -> str | None:
        """Return the old and new owner, and the error with which the old one is refused."""
        if self._proof is None:
            with transactional_id_of(self._context, self._id) as known:
                after = known.describe()
                if after is None or after.owner == self._before.owner:
                    return None
                refusal = known.refusal(self._before.owner)
            if refusal is None:
                return None
            was = self._before
            had = f", {was.state.lower()} with {len(was.partitions)} partitions"
            self._proof = (
                f"{self.target} went from {was.owner}{had if was.state == ONGOING else ''} to "
                f"{self._ours}; the coordinator refuses the former owner with {refusal}"
            )
            self._context.recorder.hazard(
                "taken-over-id",
                hop=self._fault.tested,
                fault=self._name,
                owner=self._id,
                at=self.at,
                detail=self._proof,
            )
        return self._proof

    def heal(self) -> None:
        """Wait until the impostor has no open transaction. The owner must come back by itself."""

        def ended() -> bool:
            with transactional_id_of(self._context, self._id) as known:
                transaction = known.describe()
            return transaction is not None and (
                transaction.owner != self._ours or transaction.state not in {ONGOING, *ENDING}
            )

        wait_until(
            ended,
            what=f"{self.target} to have no open transaction",
            seconds=60,
            stop=self._context.stop,
        )
