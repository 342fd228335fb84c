"""A client of a queue broker, by JMS: an application that sends again whatever nobody acknowledged.

With identities the broker drops what it has taken before (duplicate
detection); without, whatever was taken and not acknowledged is there twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

from onceproof.harness.artemis.programs import artemis_programs
from onceproof.harness.tools.setup import Tools
from onceproof.harness.workload.senders.base import Medium


@dataclass(frozen=True, kw_only=True)
class JmsSender:
    """Jakarta Messaging with Artemis' client.

    Attributes:
        duplicate_ids: each message says which record it is (`_AMQ_DUPL_ID`).
    """

    into: ClassVar[Medium] = "queues"

    duplicate_ids: bool = True

    @property
    def name(self) -> str:
        return "jms"

    @property
    def resend_seconds(self) -> float | None:
        """It sends again after an error, not after a time."""
        return None

    def settings(self, *, transactional: bool) -> Mapping[str, Any]:
        return {
            "duplicate_ids": self.duplicate_ids,
            "delivery": "persistent, each acknowledged before the next",
            "callTimeout": 2000,
        }

    def command(self, task: Path, tools: Tools | None) -> Sequence[str | Path]:
        assert tools is not None, "it is started with the tools of its run"
        return artemis_programs(tools).command("QueueSender", task)


JMS: Final = JmsSender()
"""With identities."""
