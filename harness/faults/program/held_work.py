"""What one of several workers is about to do, held on its way: it has records in hand.

A commit of offsets in a transaction is held at a gate, a write to the database in a trigger. Behind
a proxy, neither tells which process it is of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Final, Protocol, TypeVar

from onceproof.harness.clock import now
from onceproof.harness.context.pipeline import Positions
from onceproof.harness.context.run_context import RunContext, addresses
from onceproof.harness.faults.database.triggers import Triggers
from onceproof.harness.faults.messages.message import AtGates, Message, positions_in
from onceproof.harness.faults.program.programs import program
from onceproof.harness.faults.program.several import freeze, thaw, waits_for_answer
from onceproof.harness.kafka.coordinator import Refused
from onceproof.harness.kafka.transaction_list import transactions
from onceproof.harness.kafka.transactions import ONGOING
from onceproof.harness.links.topology import AUDITOR, POSTGRES
from onceproof.harness.wait import Overdue, wait_until

T = TypeVar("T")
_HOLD_SECONDS: Final = 30.0


class HeldWork(Protocol):
    """One worker's work, held until it is released."""

    @property
    def what(self) -> str:
        """What is held, for reports."""

    def pause_owner(self) -> int:
        """Let the process stand still that it is of; returns its id.

        Raises:
            StageTrouble: nobody can tell which one that is.
            Overdue: that is not to be seen now.
        """

    def overtaken(self, ends: Positions) -> str | None:
        """How others went on past all that is in hand, or why they cannot; None if neither.

        Args:
            ends: offsets of inputs behind everything that may be in hand.
        """

    def ended(self) -> str | None:
        """How what is held has ended meanwhile; None if it may still count, or nobody says."""

    def release(self) -> None:
        """Let it go on its way."""


class HeldOffsets:
    """A commit of offsets in a transaction."""

    def __init__(self, context: RunContext, offsets: Message) -> None:
        """Wait for it and hold it.

        Raises:
            Overdue: nobody commits.
        """
        self._context = context
        self._gates = AtGates(context, "pipeline", offsets.rule("hold"))
        try:
            held = _met(context, self._gates.fired, "a commit of offsets in a transaction")
        except BaseException:
            self.release()
            raise
        (self._id,) = held[0]["transactional_ids"]
        self._at = int(held[0]["at"])
        self._node = next(at.target for at in self._gates.links if str(at) == held[0]["link"])
        self._in_hand = positions_in(held[0], program(context).look.topics)

    @property
    def what(self) -> str:
        return f"offsets of {self._id} held"

    def pause_owner(self) -> int:
        """The one that has waited for the broker since its offsets were held."""
        pid = waits_for_answer(self._context, self._node, lambda: (now() - self._at) / 1e9)
        freeze(pid)
        return pid

    def overtaken(self, ends: Positions) -> str | None:
        """Whether others have committed what is held; their outputs show only what is before the
        open transaction.
        """
        committed = program(self._context).look.groups.newest()
        if all(committed.get(at, 0) >= end for at, end in (self._in_hand or ends).items()):
            return "have committed all that it had in hand"
        return None

    def ended(self) -> str | None:
        """That its transaction is not open any more: its coordinator aborts it after a time."""
        with suppress(Refused, OSError):
            ways = addresses(self._context.stage).values()
            if transactions(ways, self._id).get(self._id) != ONGOING:
                return f"the transaction of {self._id} was over by then"
        return None

    def release(self) -> None:
        self._gates.remove()


class HeldWrite:
    """The first write of a transaction to the database."""

    def __init__(self, context: RunContext) -> None:
        """Wait for it and hold it.

        Raises:
            Overdue: nobody writes.
            psycopg.Error: the database refuses.
        """
        self._context = context
        self._triggers = Triggers(context.stage.database(AUDITOR), when="statement", one=True)
        try:
            (self._server_process,) = _met(
                context, self._triggers.waiting, "a write to the database"
            )
        except BaseException:
            self.release()
            raise

    @property
    def what(self) -> str:
        return f"its write held in server process {self._server_process}"

    def pause_owner(self) -> int:
        """The one that has waited for the database since its write came there."""
        pid = waits_for_answer(
            self._context, POSTGRES, lambda: self._triggers.held_for(self._server_process)
        )
        freeze(pid)
        if not self._held():
            thaw(pid)
            raise Overdue("its owner gave up the write that was held")
        return pid

    def overtaken(self, ends: Positions) -> str | None:
        """Whether others have written beyond them, or wait for a lock of the one that is held."""
        if program(self._context).look.past(ends):
            # Such as for a statement time-out, which its owner hears of when it goes on.
            given_up = "" if self._held() else "; the server has given its write up meanwhile"
            return f"have written beyond all that was in the input{given_up}"
        waiting = self._triggers.behind(self._server_process)
        return f"wait for its locks in {waiting} server processes" if waiting else None

    def ended(self) -> str | None:
        """Never: whether it heeds a write that the server gave up is for its owner to show."""
        return None

    def release(self) -> None:
        self._triggers.remove()

    def _held(self) -> bool:
        return self._server_process in self._triggers.waiting()


@contextmanager
def writes_held(
    context: RunContext, *, produce: Message | None, tables: Sequence[str]
) -> Iterator[str]:
    """Hold what the pipeline writes until the block ends; yields what is held, in words.

    Args:
        produce: its requests to a topic; None: what it commits to the database is held.
        tables: of the database.

    Raises:
        Overdue: it writes nothing.
        psycopg.Error: the database refuses.
    """
    with ExitStack() as held:
        if produce is None:
            triggers = Triggers(context.stage.database(AUDITOR), when="commit", tables=tables)
            held.callback(triggers.remove)
            _met(context, triggers.waiting, "a commit in the database")
            yield f"a commit to {' and '.join(tables)} was held"
        else:
            gates = AtGates(context, "pipeline", produce.rule("hold", times=None))
            held.callback(gates.remove)
            _met(context, gates.fired, f"a write to {produce.topic}")
            yield f"writes to {produce.topic} were held"


def _met(context: RunContext, look: Callable[[], T], what: str) -> T:
    return wait_until(look, what=what, seconds=_HOLD_SECONDS, every=0.005, stop=context.stop)
