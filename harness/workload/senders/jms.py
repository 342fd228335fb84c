"""A JMS client of the queue broker, which resends unacknowledged messages.

With duplicate ids the broker drops a message that it already has. Without them, a message that was
accepted but not acknowledged is duplicated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final

from onceproof.harness.artemis.configuration import Artemis
from onceproof.harness.artemis.programs import artemis_programs
from onceproof.harness.tools.setup import Tools
from onceproof.harness.workload.senders.base import Medium


@dataclass(frozen=True, kw_only=True)
class JmsSender:
    """Artemis' Jakarta Messaging client; `duplicate_ids` sets `_AMQ_DUPL_ID` on each message."""

    into: ClassVar[Medium] = "queues"
    runtime: ClassVar[str | None] = None

    duplicate_ids: bool = True
    queue_broker: Artemis = field(default_factory=Artemis)

    @property
    def name(self) -> str:
        return "jms"

    @property
    def resend_seconds(self) -> float | None:
        return None  # it resends after an error, not after a time

    def settings(self, *, transactional: bool) -> Mapping[str, Any]:
        return {
            "duplicate_ids": self.duplicate_ids,
            "delivery": "persistent, each acknowledged before the next",
            "callTimeout": 2000,
        }

    def command(self, task: Path, tools: Tools | None) -> Sequence[str | Path]:
        assert tools is not None, "JMS senders need the tools of the run"
        return artemis_programs(tools).command("QueueSender", task)


JMS: Final = JmsSender()
