"""Whether a message has passed in its client's current transaction: since the last EndTxn request.

Messages before the start of observation are not known, and do not count.
"""

from __future__ import annotations

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.messages.message import REQUEST_OF, AtGates, Message
from onceproof.harness.links.gate.client import Event


class TransactionWatch:
    """Observe a message and the ends of its client's transactions."""

    def __init__(self, context: RunContext, message: Message) -> None:
        """Start; raise `StageTrouble` if a link cannot have a gate."""
        end = Message(
            source=message.source, direction="request", api="EndTxn", client_id=message.client_id
        )
        self._passing = AtGates(context, message.source, message.rule("report", times=None))
        try:
            self._ends = AtGates(context, end.source, end.rule("report", times=None))
        except BaseException:
            self._passing.remove()
            raise

    def passed(self, now: Event) -> bool:
        """Whether the message passed since the last EndTxn; `now` and its answer do not count."""
        passed, ended = (
            [event for event in gates.fired() if REQUEST_OF(event) != REQUEST_OF(now)]
            for gates in (self._passing, self._ends)
        )
        return bool(passed) and (not ended or passed[-1]["at"] > ended[-1]["at"])

    def remove(self) -> None:
        self._passing.remove()
        self._ends.remove()
