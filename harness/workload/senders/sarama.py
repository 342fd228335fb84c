"""Sarama, in Go; it is idempotent if that is set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

from onceproof.harness.go.programs import program, version_of
from onceproof.harness.tools.setup import Tools
from onceproof.harness.workload.senders.base import Medium
from onceproof.harness.workload.senders.librdkafka import TRANSACTION_TIMEOUT_MS


@dataclass(frozen=True, kw_only=True)
class Sarama:
    """Sarama's AsyncProducer; if not idempotent, it still retries."""

    into: ClassVar[Medium] = "topics"
    runtime: ClassVar[str | None] = None

    idempotent: bool = True

    @property
    def name(self) -> str:
        return "sarama"

    @property
    def resend_seconds(self) -> float | None:
        return None

    def settings(self, *, transactional: bool) -> Mapping[str, Any]:
        timeout = f"{TRANSACTION_TIMEOUT_MS}ms"
        return {
            "Producer.Idempotent": self.idempotent,
            "Producer.Flush.Frequency": "5ms",
            "Producer.Timeout": "3s",
            "Producer.Retry.Max": 1_000,  # by default three, within 0.3 s
            "Producer.Retry.Backoff": "100ms",
            "Metadata.Retry.Max": 100,
            "Metadata.Retry.Backoff": "100ms",
            "Net.DialTimeout": "2s",
            "Net.ReadTimeout": "4s",
            # An idempotent producer must have one request at a time.
            "Net.MaxOpenRequests": 1 if self.idempotent else 5,
            **({"Producer.Transaction.Timeout": timeout} if transactional else {}),
        }

    def versions(self) -> Mapping[str, str]:
        return {self.name: version_of("github.com/IBM/sarama")}

    def command(self, task: Path, tools: Tools | None) -> Sequence[str | Path]:
        return [program("sarama"), task]


SARAMA: Final = Sarama()
