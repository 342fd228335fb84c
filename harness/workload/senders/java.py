"""Kafka's Java client; idempotent by default. It needs a JDK."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

from onceproof.harness.java.programs import programs_for
from onceproof.harness.tools.setup import Tools
from onceproof.harness.workload.senders.base import Medium
from onceproof.harness.workload.senders.librdkafka import TRANSACTION_TIMEOUT_MS
from onceproof.harness.workload.task_file import SenderTask

_LINGER_MS: Final = 5
_REQUEST_TIMEOUT_MS: Final = 3000


@dataclass(frozen=True, kw_only=True)
class Java:
    """KafkaProducer of kafka-clients.

    Attributes:
        idempotent: if false, the client still retries, so a record may be appended twice.
        acks: `all` or `1`.
        defaults: whether `idempotent` and `acks` are left to the client's defaults, as documented:
            idempotent and `all` since 3.0.
        resend_seconds: delivery timeout, after which the application itself sends again.
    """

    into: ClassVar[Medium] = "topics"
    runtime: ClassVar[str | None] = "kafka-clients"

    idempotent: bool = True
    acks: str = "all"
    defaults: bool = False
    resend_seconds: float | None = None

    @property
    def name(self) -> str:
        return "java-defaults" if self.defaults else "java"

    def settings(self, *, transactional: bool) -> Mapping[str, Any]:
        timeout_ms = 120_000 if self.resend_seconds is None else int(self.resend_seconds * 1000)
        if transactional:
            timeout_ms = TRANSACTION_TIMEOUT_MS
        kind = {"acks": self.acks, "enable.idempotence": self.idempotent}
        return {
            **({} if self.defaults else kind),
            "linger.ms": _LINGER_MS,
            # The client requires linger + request timeout <= delivery timeout.
            "request.timeout.ms": min(_REQUEST_TIMEOUT_MS, timeout_ms - _LINGER_MS),
            "delivery.timeout.ms": timeout_ms,
            # Timeout of a transactional call, which is then retried.
            "max.block.ms": 5000 if transactional else timeout_ms,
            "retry.backoff.ms": 50,
            "retry.backoff.max.ms": 200,
            "reconnect.backoff.ms": 50,
            "reconnect.backoff.max.ms": 500,
            **({"transaction.timeout.ms": TRANSACTION_TIMEOUT_MS} if transactional else {}),
        }

    def command(self, task: Path, tools: Tools | None) -> Sequence[str | Path]:
        assert tools is not None, "Java senders need the tools of the run"
        transactional = SenderTask.load(task).transactional_id is not None
        return programs_for(tools).command("Transactor" if transactional else "Sender", task)


JAVA: Final = Java()
JAVA_DEFAULTS: Final = Java(defaults=True)
