"""A transactional id taken over by an impostor.

This is what a second instance with the same id does, started by mistake, or
by a scheduler that took the first for dead. What the owner has open is aborted, and the owner must
be fenced at its next request: fail for good, and never write or commit again. What it had under way
is then the business of whoever comes after it.
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
    """Take over a transactional id: its open transaction is aborted, and its owner must be fenced.

    Attributes:
        tested: the hop of the claims that its owner puts to the test.
    """

    example: ClassVar[str] = "take-over-id payments-writer"
    kind: ClassVar[str] = "crash"  # to its owner, as if a successor had come after one
    needs = None
    transactional_id: TransactionalId
    tested: Tested = "produce"

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
                raise StageTrouble(f"nobody owns {self.target}: there is nobody to take it from")
            self._before = before
            self.at = now()
            self._ours = known.take()
        self._proof: str | None = None

    def evidence(self) -> str | None:
        """Whose it was and is, and how the coordinator refuses who owned it."""
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
                f"{self._ours}; the coordinator refuses the former with {refusal}"
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
        """See that nothing is open in the impostor's name; its owner has to come again itself."""

        def rests() -> bool:
            with transactional_id_of(self._context, self._id) as known:
                now_ = known.describe()
            return now_ is not None and (
                now_.owner != self._ours or now_.state not in {ONGOING, *ENDING}
            )

        wait_until(rests, what=f"{self.target} to be at rest", seconds=60, stop=self._context.stop)
