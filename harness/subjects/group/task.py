"""The task of a group's member, passed to its process as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal, Self

Commits = Literal["in-transaction", "before", "after", "automatically"]
"""When offsets are committed: in the transaction of the effects, before or after the effects, or by
the client's auto-commit."""

Protocol = Literal["classic", "consumer"]
"""How a group shares its partitions: among its members, or by the coordinator (KIP-848)."""

SESSION_TIMEOUT_MS: Final = 6_000
"""Session timeout: the lowest value that brokers allow."""
TRANSACTION_TIMEOUT_MS: Final = 60_000
"""Of members in all languages. On a busy machine a paused member may return after more than 20 s.
If its transaction had timed out, it would be fenced, and there would be no zombie to observe."""
HUNG_SECONDS: Final = 15.0
"""A member whose client does not return from a call for so long is ended by its watchdog."""


@dataclass(frozen=True, kw_only=True)
class MemberTask:
    """The task of one member.

    Attributes:
        name: also its client id.
        group_metadata: send the group's metadata with a transaction, so that a zombie is fenced.
        rewind: after an abort, read again from the committed offsets.
        outcomes: check each send before the commit, where the client's commit does not.
        calls: URL of a service to call for each record; None for no calls.
        batch: maximum number of records at a time.
        transactional_id: None: from the group and the name.
        protocol: the `group.protocol` of librdkafka and Java.
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
    transactional_id: str | None = None
    protocol: Protocol = "classic"

    @property
    def own_transactional_id(self) -> str:
        """Its transactional id, given or made of the group and its name."""
        return self.transactional_id or f"{self.group}-{self.name}"

    @property
    def consumer(self) -> str:
        return self.name

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)))

    @classmethod
    def load(cls, path: Path) -> Self:
        return cls(**json.loads(path.read_text()))
