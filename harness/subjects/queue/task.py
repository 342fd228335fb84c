"""The task of a forwarder, passed to its process as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

Acknowledge = Literal["transacted", "auto", "client", "scripted"]
"""When a message counts as consumed: with its effect, on delivery, when the application says so,
after its effect, or with its effect and only if nobody else has consumed it. In JMS:
SESSION_TRANSACTED, AUTO_ACKNOWLEDGE, CLIENT_ACKNOWLEDGE."""


@dataclass(frozen=True, kw_only=True)
class ForwarderTask:
    """The task of one forwarder.

    Attributes:
        broker: `host:port` of the queue broker, as the audience `pipeline` reaches it.
        source: the queue that it consumes, by its fully qualified name.
        work: folder of the files that hold it at a moment.
        batch: maximum number of messages in one transaction.
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
