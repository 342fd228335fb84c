"""franz-go, in Go; idempotent by default."""

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
class FranzGo:
    """franz-go's Client; if not idempotent, it still retries."""

    into: ClassVar[Medium] = "topics"
    runtime: ClassVar[str | None] = None

    idempotent: bool = True

    @property
    def name(self) -> str:
        return "franz-go"

    @property
    def resend_seconds(self) -> float | None:
        return None

    def settings(self, *, transactional: bool) -> Mapping[str, Any]:
        timeout = f"{TRANSACTION_TIMEOUT_MS}ms" if transactional else "120s"
        return {
            "Idempotent": self.idempotent,
            "ProducerLinger": "5ms",
            # A request may take both together.
            "ProduceRequestTimeout": "1s",
            "RequestTimeoutOverhead": "2s",
            "RecordDeliveryTimeout": timeout,
            "RetryBackoff": "50ms",
            "MetadataMinAge": "250ms",
            **({"TransactionTimeout": timeout} if transactional else {}),
        }

    def versions(self) -> Mapping[str, str]:
        return {self.name: version_of("github.com/twmb/franz-go")}

    def command(self, task: Path, tools: Tools | None) -> Sequence[str | Path]:
        return [program("franz"), task]


FRANZ_GO: Final = FranzGo()
