"""Confluent's client for JavaScript, which is librdkafka with an interface like KafkaJS's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

from onceproof.harness.node.programs import command, version_of
from onceproof.harness.tools.setup import Tools
from onceproof.harness.workload.senders.base import Medium
from onceproof.harness.workload.senders.librdkafka import Librdkafka


@dataclass(frozen=True, kw_only=True)
class ConfluentJavaScript:
    """The producer of `@confluentinc/kafka-javascript`; if not idempotent, it still retries."""

    into: ClassVar[Medium] = "topics"
    runtime: ClassVar[str | None] = None

    idempotent: bool = True

    @property
    def name(self) -> str:
        return "confluent-javascript"

    @property
    def resend_seconds(self) -> float | None:
        return None

    def settings(self, *, transactional: bool) -> Mapping[str, Any]:
        settings = Librdkafka(idempotent=self.idempotent).settings(transactional=transactional)
        return {name: settings[name] for name in settings.keys() - {"statistics.interval.ms"}}

    def versions(self) -> Mapping[str, str]:
        return {self.name: version_of("confluent", "@confluentinc/kafka-javascript")}

    def command(self, task: Path, tools: Tools | None) -> Sequence[str | Path]:
        return command("confluent", "producer", task)


CONFLUENT_JAVASCRIPT: Final = ConfluentJavaScript()
