"""kafka-python, in pure Python. Its producer is idempotent by default since 3.0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

from onceproof.harness.tools.setup import Tools
from onceproof.harness.workload.senders.base import Medium, python_client
from onceproof.harness.workload.senders.librdkafka import TRANSACTION_TIMEOUT_MS


@dataclass(frozen=True, kw_only=True)
class KafkaPython:
    """kafka-python's KafkaProducer."""

    into: ClassVar[Medium] = "topics"
    runtime: ClassVar[str | None] = "kafka-python"

    idempotent: bool = True

    @property
    def name(self) -> str:
        return "kafka-python"

    @property
    def resend_seconds(self) -> float | None:
        return None

    def settings(self, *, transactional: bool) -> Mapping[str, Any]:
        return {
            "acks": "all",
            "enable_idempotence": self.idempotent,
            "linger_ms": 5,
            "request_timeout_ms": 3000,
            "delivery_timeout_ms": TRANSACTION_TIMEOUT_MS if transactional else 120_000,
            "max_block_ms": 30_000,
            "retry_backoff_ms": 50,
            "reconnect_backoff_ms": 50,
            "reconnect_backoff_max_ms": 500,
            **({"transaction_timeout_ms": TRANSACTION_TIMEOUT_MS} if transactional else {}),
        }

    def command(self, task: Path, tools: Tools | None) -> Sequence[str | Path]:
        return python_client("kafka_python", task, tools, runtime=self.runtime)


KAFKA_PYTHON: Final = KafkaPython()
