"""Whether a message has passed in the transaction that a client is in.

A transaction goes on until EndTxn is asked for, so only what passed after
the last such request counts. What passed before this began to look is not known, and does not.
"""

from __future__ import annotations

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.messages.message import REQUEST_OF, AtGates, Message
from onceproof.harness.links.gate.client import Event


class SoFar:
    """What has passed of a message in its client's transaction."""

    def __init__(self, context: RunContext, message: Message) -> None:
        """Begin to look.

        Raises:
            StageTrouble: a link cannot have a gate.
        """
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
        """Whether it has passed since the last end.

        Args:
            now: what passes, a request or its answer: neither of them is earlier than itself.
        """
        passed, ended = (
            [event for event in gates.fired() if REQUEST_OF(event) != REQUEST_OF(now)]
            for gates in (self._passing, self._ends)
        )
        return bool(passed) and (not ended or passed[-1]["at"] > ended[-1]["at"])

    def remove(self) -> None:
        self._passing.remove()
        self._ends.remove()
