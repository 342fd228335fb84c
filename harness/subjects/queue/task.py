"""The task of a forwarder, by JMS or by AMQP; written as JSON for its process."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

Acknowledge = Literal["transacted", "auto", "client"]
"""When a message counts as consumed: in one transaction with its effect, as soon as it was handed
out, or when the application says so, after its effect. JMS calls them SESSION_TRANSACTED,
AUTO_ACKNOWLEDGE and CLIENT_ACKNOWLEDGE."""


@dataclass(frozen=True, kw_only=True)
class ForwarderTask:
    """One forwarder.

    Attributes:
        name: `forwarder-0`.
        broker: `host:port` of the queue broker, as the audience `pipeline` reaches it.
        source: the queue that it consumes, by its fully qualified name.
        sink: the address that it sends to.
        duplicate_ids: each effect says which message it is of, so that the broker takes it once.
        work: folder in which somebody may ask it to stand still.
        history: folder for what it has to tell.
        batch: messages in one transaction, at most.
    """

    name: str
    broker: str
    source: str
    sink: str
    acknowledge: Acknowledge
    duplicate_ids: bool
    work: str
    history: str
    batch: int = 10

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)))

    @classmethod
    def load(cls, path: Path) -> ForwarderTask:
        return cls(**json.loads(path.read_text()))
