"""Clients in Python of a queue broker, from packages of their own, that resend until acknowledged.

With message ids the broker drops a message that it already has. Without them, a message that was
accepted but not acknowledged is duplicated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from onceproof.harness.processes.with_packages import with_packages
from onceproof.harness.queues.base import QueueSettings
from onceproof.harness.queues.packaged import Packages
from onceproof.harness.tools.setup import Tools
from onceproof.harness.workload.senders.base import Medium


@dataclass(frozen=True, kw_only=True)
class PackagedSender:
    """A client library.

    Attributes:
        module: its program in `harness/workload/clients/`.
        message_ids: give each message its record's name as id.
    """

    into: ClassVar[Medium] = "queues"
    runtime: ClassVar[str | None] = None

    name: str
    module: str
    packages: Packages
    queue_broker: QueueSettings
    message_ids: bool = True

    @property
    def resend_seconds(self) -> float | None:
        return None  # it resends after an error, not after a time

    def settings(self, *, transactional: bool) -> Mapping[str, Any]:
        return {"message_ids": self.message_ids, "timeout": 2}

    def command(self, task: Path, tools: Tools | None) -> Sequence[str | Path]:
        module = f"onceproof.harness.workload.clients.{self.module}"
        return with_packages(self.packages.installed(), module, task)
