"""Hold one worker's commit or write in flight, so that it has unprocessed records.

A transactional offset commit is held at a gate, a write to the database in a trigger. Because of
the proxies, neither tells which process sent it.
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
    """One worker's work, held until `release`."""

    @property
    def what(self) -> str:
        """What is held, for reports."""

    def pause_owner(self) -> int:
        """Pause the process that owns it; return its id.

        Raises:
            StageTrouble, Overdue: the owner cannot be determined, or is not visible now.
        """

    def overtaken(self, ends: Positions) -> str | None:
        """Return how others have passed the held work, or what blocks them; None if neither.

        Args:
            ends: input offsets after all records that the worker may have read.
        """

    def ended(self) -> str | None:
        """Return how the held work has ended; None if it may still take effect or is unknown."""

    def release(self) -> None:
        """Release it."""


class HeldOffsets:
    """A transactional offset commit."""

    def __init__(self, context: RunContext, offsets: Message) -> None:
        """Hold the next one; raise `Overdue` if there is none."""
        self._context = context
        self._gates = AtGates(context, "pipeline", offsets.rule("hold"))
        try:
            held = _wait_met(context, self._gates.fired, "an offset commit in a transaction")
        except BaseException:
            self.release()
            raise
        (self._id,) = held[0]["transactional_ids"]
        self._at = int(held[0]["at"])
        self._node = next(at.target for at in self._gates.links if str(at) == held[0]["link"])
        self._in_hand = positions_in(held[0], program(context).look.topics)

    @property
    def what(self) -> str:
        return f"the offset commit of {self._id} held"

    def pause_owner(self) -> int:
        """Pause the process that has waited for the broker since the commit was held."""
        pid = waits_for_answer(self._context, self._node, lambda: (now() - self._at) / 1e9)
        freeze(pid)
        return pid

    def overtaken(self, ends: Positions) -> str | None:
        """Whether others have committed the held offsets.

        Their outputs would not show it: readers see only what precedes the open transaction.
        """
        committed = program(self._context).look.groups.newest()
        if all(committed.get(at, 0) >= end for at, end in (self._in_hand or ends).items()):
            return "have committed its offsets in its place"
        return None

    def ended(self) -> str | None:
        """Whether its transaction is no longer open; its coordinator aborts it after a time-out."""
        with suppress(Refused, OSError):
            brokers = addresses(self._context.stage).values()
            if transactions(brokers, self._id).get(self._id) != ONGOING:
                return f"the transaction of {self._id} had already ended"
        return None

    def release(self) -> None:
        self._gates.remove()


class HeldWrite:
    """The first write of a transaction to the database."""

    def __init__(self, context: RunContext) -> None:
        """Hold the next one; raise `Overdue` if there is none, or `psycopg.Error`."""
        self._context = context
        self._triggers = Triggers(context.stage.database(AUDITOR), when="statement", one=True)
        try:
            (self._server_process,) = _wait_met(
                context, self._triggers.waiting, "a write to the database"
            )
        except BaseException:
            self.release()
            raise

    @property
    def what(self) -> str:
        return f"its write held in server process {self._server_process}"

    def pause_owner(self) -> int:
        """Pause the process that has waited for the database since its write arrived."""
        pid = waits_for_answer(
            self._context, POSTGRES, lambda: self._triggers.held_for(self._server_process)
        )
        freeze(pid)
        if not self._held():
            thaw(pid)
            raise Overdue("its owner gave up the held write")
        return pid

    def overtaken(self, ends: Positions) -> str | None:
        """Whether others have written beyond `ends`, or wait for a lock of the held transaction."""
        if program(self._context).look.past(ends):
            # E.g. by a statement time-out, of which its owner learns only when it resumes.
            given_up = "" if self._held() else "; meanwhile the server cancelled the held write"
            return f"have written output for all of the input{given_up}"
        waiting = self._triggers.behind(self._server_process)
        return f"wait for its locks in {waiting} server processes" if waiting else None

    def ended(self) -> str | None:
        """Return None: whether its owner respects a cancelled write is what is tested."""
        return None

    def release(self) -> None:
        self._triggers.remove()

    def _held(self) -> bool:
        return self._server_process in self._triggers.waiting()


@contextmanager
def writes_held(
    context: RunContext, *, produce: Message | None, tables: Sequence[str]
) -> Iterator[str]:
    """Hold the pipeline's writes during the block; yield what is held, in words.

    Args:
        produce: the Produce requests to hold; None holds commits to `tables` of the database.

    Raises:
        Overdue, psycopg.Error: it writes nothing, or the database refuses.
    """
    with ExitStack() as held:
        if produce is None:
            triggers = Triggers(context.stage.database(AUDITOR), when="commit", tables=tables)
            held.callback(triggers.remove)
            _wait_met(context, triggers.waiting, "a commit in the database")
            yield f"a commit to {' and '.join(tables)} was held"
        else:
            gates = AtGates(context, "pipeline", produce.rule("hold", times=None))
            held.callback(gates.remove)
            _wait_met(context, gates.fired, f"a write to {produce.topic}")
            yield f"writes to {produce.topic} were held"


def _wait_met(context: RunContext, look: Callable[[], T], what: str) -> T:
    return wait_until(look, what=what, seconds=_HOLD_SECONDS, every=0.005, stop=context.stop)
