"""Kafka's own client, in Java: the one that the others are measured by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from harness.java.programs import compiled
from harness.tools.setup import Tools
from harness.workload.senders.librdkafka import TRANSACTION_TIMEOUT_MS
from harness.workload.task_file import SenderTask


@dataclass(frozen=True, kw_only=True)
class Java:
    """Kafka's KafkaProducer."""

    @property
    def name(self) -> str:
        """`java`."""
        return "java"

    @property
    def resend_seconds(self) -> float | None:
        """Its application has patience."""
        return None

    def settings(self, *, transactional: bool) -> Mapping[str, Any]:
        """Kafka's own words."""
        patience = TRANSACTION_TIMEOUT_MS if transactional else 120_000
        return {
            "acks": "all",
            "enable.idempotence": True,
            "linger.ms": 5,
            "request.timeout.ms": 3000,
            "delivery.timeout.ms": patience,
            "max.block.ms": 5000 if transactional else patience,
            "retry.backoff.ms": 50,
            "retry.backoff.max.ms": 200,
            "reconnect.backoff.ms": 50,
            "reconnect.backoff.max.ms": 500,
            **({"transaction.timeout.ms": TRANSACTION_TIMEOUT_MS} if transactional else {}),
        }

    def command(self, task: Path, tools: Tools | None) -> Sequence[str | Path]:
        """A program in Java, compiled if need be.

        Raises:
            SetupError: it cannot be compiled.
        """
        assert tools is not None, "whoever sends with Java has Java"
        assert tools.stage is not None, "Kafka's jars are those of the local stage"
        programs = compiled(tools.stage.java, tools.stage.kafka_libs)
        transactional = SenderTask.load(task).transactional_id is not None
        return programs.command("Transactor" if transactional else "Sender", task)


JAVA: Final = Java()
"""Idempotent, acknowledged by all."""
