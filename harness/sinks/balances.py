"""A topic of balances: the newest record of a key is the state of an account."""

from __future__ import annotations

import json
from typing import Final

from onceproof.harness.history.identity import digest
from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.sinks.base import Effect, State
from onceproof.harness.sinks.topic import TopicSink

_AGGREGATES: Final = ("balance", "payments")


class BalancesTopic(TopicSink):
    """A topic of JSON objects with the number of an account's payments and their sum, in cents."""

    def __init__(self, reader: LogReader, *, topic: str, view: str) -> None:
        super().__init__(reader, topic=topic, view=view)
        self._logs = reader

    def effects(self) -> list[Effect]:
        """Return nothing: a record has a running balance and no single payment."""
        return []

    def states(self) -> list[State]:
        """Return the newest balance of each account; a tombstone removes the account.

        A value that is not an integer becomes a digest, so that it counts as a wrong amount.
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
