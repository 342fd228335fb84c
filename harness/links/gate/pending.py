"""Requests that are under way on one connection, and what becomes of their answers.

Kafka answers in order, and a response names only its correlation id. A
request that is never answered (Produce with acks=0) is passed over when a later answer comes. What
is answered here and not by the broker waits its turn, so that the client sees one order.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from onceproof.harness.links.gate.contents import Contents


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is known of a request that somebody wanted whole."""

    client_id: str | None
    contents: Contents | None


@dataclass(slots=True)
class Asked:
    """One request under way."""

    correlation_id: int
    key: int
    version: int
    request: Request | None = None
    """None if no rule was interested when it came."""
    answer: bytes | None = None
    """Our own answer, if the broker is not asked."""
    swallowed: bool = False
    """Whether the client must not see the broker's answer."""


class Pending:
    """Requests under way, oldest first."""

    def __init__(self) -> None:
        self._asked: deque[Asked] = deque()
        self._due: list[bytes] = []

    def add(self, asked: Asked) -> None:
        """A request went on, or is answered by us."""
        self._asked.append(asked)

    def answered(self, correlation_id: int) -> Asked | None:
        """The request of a broker's response, no longer under way; None if nobody asked.

        Our own answers that it passes over become due before it.
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
        """Whether an answer of ours comes before the response that was seen last."""
        return bool(self._due)

    def passed_over(self) -> list[bytes]:
        """Our own answers that come before the response that was seen last."""
        found, self._due = self._due, []
        return found

    def due(self) -> list[bytes]:
        """Our own answers that the client is owed now; they are its from here on."""
        found = self.passed_over()
        while self._asked and (answer := self._asked[0].answer) is not None:
            self._asked.popleft()
            found.append(answer)
        return found
