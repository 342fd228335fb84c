"""librdkafka through confluent-kafka, the default sender.

Timeouts are short, so that a client notices a lost response within a run: a request times out after
2.4–3.0 s and is retried, not failed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

from onceproof.harness.tools.setup import Tools
from onceproof.harness.workload.senders.base import MESSAGE_MAX_BYTES, Medium, python_client

REQUEST_TIMEOUT_MS: Final = 1000
TRANSACTION_TIMEOUT_MS: Final = 20_000
REFRESH_MS: Final = 500
"""An added partition gets records within this time, before most pipelines discover it."""


@dataclass(frozen=True, kw_only=True)
class Librdkafka:
    """confluent-kafka's producer.

    Attributes:
        idempotent: if false, the client still retries, so a record may be appended twice.
        acks: `all` or `1`.
        resend_seconds: delivery timeout, after which the application itself sends again.
    """

    into: ClassVar[Medium] = "topics"
    runtime: ClassVar[str | None] = "librdkafka"

    idempotent: bool = True
    acks: str = "all"
    resend_seconds: float | None = None
    linger_ms: int = 5

    @property
    def name(self) -> str:
        return "librdkafka"

    def settings(self, *, transactional: bool) -> Mapping[str, Any]:
        timeout_ms = 120_000 if self.resend_seconds is None else int(self.resend_seconds * 1000)
        return {
            "acks": self.acks,
            "enable.idempotence": self.idempotent,
            "linger.ms": self.linger_ms,
            "message.max.bytes": MESSAGE_MAX_BYTES,
            "partitioner": "murmur2_random",
            "socket.timeout.ms": 1500,
            "request.timeout.ms": REQUEST_TIMEOUT_MS,
            "message.timeout.ms": TRANSACTION_TIMEOUT_MS if transactional else timeout_ms,
            "topic.metadata.refresh.interval.ms": REFRESH_MS,
            "retry.backoff.ms": 50,
            "retry.backoff.max.ms": 200,
            "reconnect.backoff.ms": 50,
            "reconnect.backoff.max.ms": 500,
            "statistics.interval.ms": 500,
            "log_level": 0,
            **({"transaction.timeout.ms": TRANSACTION_TIMEOUT_MS} if transactional else {}),
        }

    def command(self, task: Path, tools: Tools | None) -> Sequence[str | Path]:
        return python_client("librdkafka", task, tools, runtime=self.runtime)


LIBRDKAFKA: Final = Librdkafka()
