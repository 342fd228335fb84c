"""The task of a member of a group; written as JSON for its process."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal, Self

Commits = Literal["in-transaction", "before", "after", "automatically"]
"""When positions are committed: in the transaction of the effects, before or after these, or by the
client whenever it likes."""

SESSION_TIMEOUT_MS: Final = 6_000
"""After so long without a heartbeat the group goes on without a member: the least brokers allow."""
TRANSACTION_TIMEOUT_MS: Final = 20_000
"""Longer than a session, so that a member that comes back still has its transaction."""
HUNG_SECONDS: Final = 15.0
"""A client that does not return from a call for so long is ended by its watchdog."""


@dataclass(frozen=True, kw_only=True)
class MemberTask:
    """One member.

    Attributes:
        name: `member-0`; its client id too.
        group_metadata: give a transaction the group's metadata, so that who left it is fenced.
        rewind: after an abort, read again from the committed positions.
        outcomes: commit only if no effect was refused, where a client's commit does not see to it.
        calls: address of a service that is called for each record; None: none.
        batch: records at a time, at most.
    """

    name: str
    bootstrap: str
    group: str
    topic: str
    sink: str
    commits: Commits
    group_metadata: bool = True
    rewind: bool = True
    outcomes: bool = True
    calls: str | None = None
    batch: int = 50

    @property
    def consumer(self) -> str:
        """Client id of its consumer, by which the group knows it."""
        return self.name

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)))

    @classmethod
    def load(cls, path: Path) -> Self:
        return cls(**json.loads(path.read_text()))
