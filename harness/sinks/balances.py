"""A topic whose newest record of each key is the state of that key: balances of accounts."""

from __future__ import annotations

import json
from typing import Final

from harness.kafka.log_reader import LogReader
from harness.sinks.base import Effect, State
from harness.sinks.topic import TopicSink

_AGGREGATES: Final = ("balance", "payments")


class BalancesTopic(TopicSink):
    """JSON objects with the number of an account's payments and their sum, in cents."""

    def __init__(self, reader: LogReader, *, topic: str, view: str) -> None:
        super().__init__(reader, topic=topic, view=view)
        self._logs = reader

    def effects(self) -> list[Effect]:
        """None: a record says what an account has by then, and nothing of one payment."""
        return []

    def states(self) -> list[State]:
        """The last word on each account; what cannot be read is an account of its own."""
        newest: dict[str, bytes] = {}
        for log in self._logs.read_topic(self.name):
            for entry, committed in zip(log.entries, log.committed(), strict=True):
                if entry.kind == "data" and (committed or self._view == "read_uncommitted"):
                    newest[(entry.key or b"").decode(errors="replace")] = entry.value or b""
        return [
            State(
                sink=self.name,
                view=self._view,
                state_key=account,
                aggregate=aggregate,
                amount=_amount(value, aggregate),
            )
            for account, value in sorted(newest.items())
            for aggregate in _AGGREGATES
        ]


def _amount(value: bytes, aggregate: str) -> int | None:
    try:
        found = json.loads(value)[aggregate]
    except (ValueError, KeyError, TypeError):
        return None
    return found if isinstance(found, int) else None
