"""KafkaJS, in JavaScript; it is idempotent if that is set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

from onceproof.harness.node.programs import command, version_of
from onceproof.harness.tools.setup import Tools
from onceproof.harness.workload.senders.base import Medium
from onceproof.harness.workload.senders.librdkafka import TRANSACTION_TIMEOUT_MS

_RETRY: Final = {"initialRetryTime": 100, "maxRetryTime": 500, "retries": 1_000}


@dataclass(frozen=True, kw_only=True)
class KafkaJs:
    """KafkaJS's producer; if not idempotent, it still retries.

    Attributes:
        by_partition: send the records of each partition with a call of their own, one after the
            other: docs/findings/ says what happens otherwise.
    """

    into: ClassVar[Medium] = "topics"
    runtime: ClassVar[str | None] = None

    idempotent: bool = True
    by_partition: bool = False

    @property
    def name(self) -> str:
        return "kafkajs-by-partition" if self.by_partition else "kafkajs"

    @property
    def resend_seconds(self) -> float | None:
        return None

    def settings(self, *, transactional: bool) -> Mapping[str, Any]:
        return {
            "connection": {
                "connectionTimeout": 2000,
                "requestTimeout": 3000,
                "enforceRequestTimeout": True,
                "retry": _RETRY,
            },
            "producer": {
                "acks": -1,
                "idempotent": self.idempotent,
                "allowAutoTopicCreation": False,
                "metadataMaxAge": 1000,
                # An idempotent producer must have one request at a time.
                "maxInFlightRequests": 1 if self.idempotent else 5,
                "retry": _RETRY,
                **({"transactionTimeout": TRANSACTION_TIMEOUT_MS} if transactional else {}),
            },
            "by_partition": self.by_partition,
        }

    def versions(self) -> Mapping[str, str]:
        return {"kafkajs": version_of("kafkajs", "kafkajs")}

    def command(self, task: Path, tools: Tools | None) -> Sequence[str | Path]:
        return command("kafkajs", "producer", task)


KAFKAJS: Final = KafkaJs()
BY_PARTITION: Final = KafkaJs(by_partition=True)
