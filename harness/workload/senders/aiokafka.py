"""aiokafka, for asyncio. Its producer is not idempotent by default."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

from onceproof.harness.tools.setup import Tools
from onceproof.harness.workload.senders.base import Medium, python_client
from onceproof.harness.workload.senders.librdkafka import TRANSACTION_TIMEOUT_MS


@dataclass(frozen=True, kw_only=True)
class Aiokafka:
    """aiokafka's AIOKafkaProducer."""

    into: ClassVar[Medium] = "topics"
    runtime: ClassVar[str | None] = "aiokafka"

    idempotent: bool = True

    @property
    def name(self) -> str:
        return "aiokafka"

    @property
    def resend_seconds(self) -> float | None:
        return None

    def settings(self, *, transactional: bool) -> Mapping[str, Any]:
        return {
            "acks": "all",
            "enable_idempotence": self.idempotent,
            "linger_ms": 5,
            # While a partition has no leader, it buffers one batch; then sending blocks.
            "max_batch_size": 1 << 18,
            "request_timeout_ms": 3000,
            "retry_backoff_ms": 50,
            **({"transaction_timeout_ms": TRANSACTION_TIMEOUT_MS} if transactional else {}),
        }

    def command(self, task: Path, tools: Tools | None) -> Sequence[str | Path]:
        return python_client("aiokafka", task, tools, runtime=self.runtime)


AIOKAFKA: Final = Aiokafka()
