"""Deliver a commit so late that it ends a later transaction: KAFKA-17754.

EndTxn names the transactional id but not the transaction. A commit is held and its connection cut,
so its owner commits again on a new one, starts another transaction, and aborts that. The old commit
arrives just before the abort. With an epoch per transaction (transaction version 2, and a client
that supports it) it is refused; otherwise aborted records are committed.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import ClassVar

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.cluster.coordinated import Tested, transactional_id_of
from onceproof.harness.faults.links.probed_link import wait_mended
from onceproof.harness.faults.messages.message import REQUEST_OF, met
from onceproof.harness.faults.words import TransactionalId
from onceproof.harness.kafka.transactions import ENDING, ONGOING, Transaction
from onceproof.harness.links.disturbances import CUT
from onceproof.harness.links.gate.client import Event, Placed
from onceproof.harness.links.gate.rules import Direction, MessageMatch
from onceproof.harness.links.topology import AUDIENCES, Link


@dataclass(frozen=True, kw_only=True)
class StaleEndTxn:
    """Hold a commit while its owner commits over another connection, and let it arrive just before
    the abort of a later transaction.
    """

    example: ClassVar[str] = "stale-end-txn payments-writer"
    kind: ClassVar[str] = "timeout"
    needs = "gates"
    transactional_id: TransactionalId
    tested: Tested = "produce"
    """The hop of the claims that its owner tests."""

    def describe(self) -> str:
        return (
            f"hold a commit of {self.transactional_id}, and deliver it just before a later "
            "transaction is aborted"
        )

    def inject(self, context: RunContext, name: str) -> _Waiting:
        return _Waiting(context, self, name)


class _Waiting:
    def __init__(self, context: RunContext, fault: StaleEndTxn, name: str) -> None:
        self._context = context
        self._fault = fault
        self._id = fault.transactional_id
        self._name = name
        self.target = f"transactional id {self._id}"
        self.at: int | None = None
        self._links = [Link(source, node) for source in AUDIENCES for node in context.stage.brokers]
        self._placed: list[Placed] = []
        with ExitStack() as undo:
            undo.callback(self._remove)
            # Answers first: a rule reports only answers to requests that come after it.
            self._answers = self._put("response")
            self._commits = self._put("request", commits=True)
            undo.pop_all()  # from here on, healing removes them
        self._aborts: dict[str, Placed] = {}
        self._late: Event | None = None
        self._later: Transaction | None = None
        self._released_at = 0
        self._proof: str | None = None

    def evidence(self) -> str | None:
        if self._proof is None and self._commit_held() and self._abort_held():
            late = self._answer(self._late)
            abort = None if late is None else self._abort_answered()
            if late is not None and abort is not None:
                self._proof = self._words(late, abort)
                self._hazard(self._proof)
        return self._proof

    def heal(self) -> None:
        """Release what is held, and wait until the links work."""
        self._remove()
        wait_mended(self._context, self._links)

    def _commit_held(self) -> bool:
        """Whether the commit is held; then its connection is cut."""
        if self._late is not None:
            return True
        for link, placed in self._commits.items():
            if placed.fired:
                self._late = placed.fired[0]
                self.at = int(self._late["at"])
                for other, one in self._commits.items():
                    if other != link:
                        one.remove()  # its owner retries, and must not be held again
                self._aborts = self._put("request", commits=False)
                (on,) = [one for one in self._links if str(one) == link]
                self._context.stage.disturb(on, CUT).release()
                return True
        return False

    def _abort_held(self) -> bool:
        """Whether the abort of a later transaction is held; then the commit is released."""
        if self._later is not None:
            return True
        if not any(placed.fired for placed in self._aborts.values()):
            return False
        with transactional_id_of(self._context, self._id) as known:
            transaction = known.describe()
        if transaction is None or transaction.state != ONGOING:
            return False  # there is nothing to abort
        assert self._late is not None, "it came before"
        self._later = transaction
        self._released_at = now()
        self._commits[str(self._late["link"])].release()
        return True

    def _abort_answered(self) -> str | None:
        """Release the abort once the late commit has taken effect; return its error code."""
        with transactional_id_of(self._context, self._id) as known:
            transaction = known.describe()
        if transaction is None or transaction.state in ENDING:
            return None
        for placed in self._aborts.values():
            if placed.fired:
                placed.release()
                return self._answer(placed.fired[0])
        return None

    def _answer(self, request: Event | None) -> str | None:
        """Return the error in the answer to a request; None while it is unanswered."""
        if request is None:
            return None
        for event in self._answers[str(request["link"])].fired:
            if REQUEST_OF(event) == REQUEST_OF(request):
                return str(event["error"])
        return None

    def _words(self, late: str, abort: str) -> str:
        assert self._late is not None, "it was met"
        assert self._later is not None, "it was open"
        seconds = (self._released_at - int(self._late["at"])) / 1e9
        with transactional_id_of(self._context, self._id) as known:
            transaction = known.describe()
        return (
            f"{met(self._late)} was held for {seconds:.1f} s, and delivered while a later "
            f"transaction of {self._later.owner} with {len(self._later.partitions)} partitions was "
            f"open: the held commit was answered with {late}, the later transaction's abort with "
            f"{abort}, and the coordinator reports "
            f"{transaction.state if transaction else 'no transaction'}"
        )

    def _hazard(self, detail: str) -> None:
        self._context.recorder.hazard(
            "late-commit",
            hop=self._fault.tested,
            fault=self._name,
            owner=self._id,
            at=self._released_at,
            detail=detail,
        )

    def _put(self, direction: Direction, *, commits: bool | None = None) -> dict[str, Placed]:
        """Place a rule for EndTxn on each link, to hold requests or report answers."""
        end = MessageMatch(
            direction=direction, api="EndTxn", transactional_id=self._id, commits=commits
        )
        rule = end.rule("hold") if direction == "request" else end.rule("report", times=None)
        found = {}
        for link in self._links:
            found[str(link)] = placed = self._context.stage.gate(link).put(rule)
            self._placed.append(placed)
        return found

    def _remove(self) -> None:
        """Remove all rules, which releases held messages, the oldest first."""
        while self._placed:
            self._placed[0].remove()
            self._placed.pop(0)
