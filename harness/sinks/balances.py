"""A topic whose newest record of each key is the state of that key: balances of accounts."""

from __future__ import annotations

import json
from typing import Final

from onceproof.harness.history.identity import digest
from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.sinks.base import Effect, State
from onceproof.harness.sinks.topic import TopicSink

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
        """The last word on each account; a tombstone removes it.

        What is no number is told by its digest: something is there, and it is not the amount.
        """
        newest: dict[str, bytes | None] = {}
        for log in self._logs.read_topic(self.name):
            for entry, committed in zip(log.entries, log.committed(), strict=True):
                if entry.kind == "data" and (committed or self._view == "read_uncommitted"):
                    newest[(entry.key or b"").decode(errors="replace")] = entry.value
        return [
            State(
                sink=self.name,
                view=self._view,
                state_key=account,
                aggregate=aggregate,
                amount=(amount := _amount(value, aggregate)),
                digest=digest(value) if amount is None else None,
            )
            for account, value in sorted(newest.items())
            if value is not None
            for aggregate in _AGGREGATES
        ]


def _amount(value: bytes, aggregate: str) -> int | None:
    try:
        found = json.loads(value)[aggregate]
    except (ValueError, KeyError, TypeError):
        return None
    if isinstance(found, bool) or not isinstance(found, int | float) or found % 1:
        return None
    return int(found)
