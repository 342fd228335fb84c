"""Track the requests in flight on one connection.

Kafka answers in order, and a response contains only its correlation id. A request without an answer
(Produce with acks=0) is skipped when a later answer arrives. The gate's own answers wait for their
turn, so that the client sees answers in order.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from onceproof.harness.links.gate.contents import Contents


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is known of a request that a rule needed whole."""

    client_id: str | None
    contents: Contents | None


@dataclass(slots=True)
class PendingRequest:
    """One request in flight."""

    correlation_id: int
    key: int
    version: int
    request: Request | None = None
    """None if no rule watched its API when it arrived."""
    answer: bytes | None = None
    """The gate's own answer, if the request is not forwarded."""
    swallowed: bool = False
    """Whether the client must not see the broker's answer."""


class Pending:
    """The requests in flight, oldest first."""

    def __init__(self) -> None:
        self._asked: deque[PendingRequest] = deque()
        self._due: list[bytes] = []

    def add(self, asked: PendingRequest) -> None:
        """Add a request that was forwarded, or that the gate answers."""
        self._asked.append(asked)

    def answered(self, correlation_id: int) -> PendingRequest | None:
        """Remove and return the request of a broker's response; None if there is none.

        The gate's own answers to earlier requests become due before the response.
        """
        if not any(a.correlation_id == correlation_id and a.answer is None for a in self._asked):
            return None
        while True:
            asked = self._asked.popleft()
            if asked.answer is not None:
                self._due.append(asked.answer)
            elif asked.correlation_id == correlation_id:
                return asked

    @property
    def overdue(self) -> bool:
        """Whether one of the gate's answers precedes the latest response."""
        return bool(self._due)

    def passed_over(self) -> list[bytes]:
        found, self._due = self._due, []
        return found

    def due(self) -> list[bytes]:
        """Remove and return all of the gate's answers that can be sent now."""
        found = self.passed_over()
        while self._asked and (answer := self._asked[0].answer) is not None:
            self._asked.popleft()
            found.append(answer)
        return found
