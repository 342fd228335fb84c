"""Client libraries of members: which program runs each, with which settings.

The programs are not imported here, because only the members' processes need the clients.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, Protocol

from onceproof.harness.go import programs as go
from onceproof.harness.node import programs as node
from onceproof.harness.subjects.group.task import SESSION_TIMEOUT_MS, TRANSACTION_TIMEOUT_MS

Client = Literal[
    "librdkafka",
    "java",
    "aiokafka",
    "kafka-python",
    "franz-go",
    "sarama",
    "kafkajs",
    "confluent-javascript",
]


@dataclass(frozen=True, kw_only=True)
class InPython:
    """Members in Python that use one client; `program` is the module to run."""

    program: str
    consumer: Mapping[str, Any]
    producer: Mapping[str, Any]


class Elsewhere(Protocol):
    """Members in another language; their settings are in the program."""

    @property
    def source(self) -> str:
        """Path of the program in this repository."""

    @property
    def version(self) -> str:
        """The only version of the client."""

    def command(self, task: Path) -> Sequence[str | Path]:
        """Return the command of a member, by its task file."""


@dataclass(frozen=True, kw_only=True)
class InGo:
    """Members in Go that use a module; `program` is a folder of `harness/go/`."""

    program: str
    module: str

    @property
    def source(self) -> str:
        return f"harness/go/{self.program}/main.go"

    @property
    def version(self) -> str:
        return go.version_of(self.module)

    def command(self, task: Path) -> Sequence[str | Path]:
        return [go.program(self.program), task]


@dataclass(frozen=True, kw_only=True)
class InNode:
    """Members in JavaScript that use a package; `client` is a folder of `harness/node/`."""

    client: str
    package: str

    @property
    def source(self) -> str:
        return f"harness/node/{self.client}/member.mjs"

    @property
    def version(self) -> str:
        return node.version_of(self.client, self.package)

    def command(self, task: Path) -> Sequence[str | Path]:
        return node.command(self.client, "member", task)


OF_THE_BROKER: Final = frozenset({"session.timeout.ms", "heartbeat.interval.ms"})
"""Settings that the broker has, not the members, with `group.protocol=consumer`."""
_RECONNECTING: Final = {
    "socket.timeout.ms": 3000,
    "reconnect.backoff.ms": 50,
    "reconnect.backoff.max.ms": 500,
    "log_level": 4,
}
LIBRDKAFKA: Final = InPython(
    program="onceproof.harness.subjects.group.member",
    consumer={
        **_RECONNECTING,
        "isolation.level": "read_committed",
        "auto.offset.reset": "earliest",
        "session.timeout.ms": SESSION_TIMEOUT_MS,
        "heartbeat.interval.ms": 1000,
    },
    producer={
        **_RECONNECTING,
        "linger.ms": 5,
        "request.timeout.ms": 1500,
        "retry.backoff.ms": 50,
        "retry.backoff.max.ms": 200,
        "transaction.timeout.ms": TRANSACTION_TIMEOUT_MS,
    },
)

_READING: Final = {
    "isolation_level": "read_committed",
    "auto_offset_reset": "earliest",
    "enable_auto_commit": False,
    "session_timeout_ms": SESSION_TIMEOUT_MS,
    "heartbeat_interval_ms": 1000,
}
AIOKAFKA: Final = InPython(
    program="onceproof.harness.subjects.group.member_aiokafka",
    consumer={
        **_READING,
        # JoinGroup waits for the other members to rejoin: longer than they may take.
        "request_timeout_ms": 10_000,
        "retry_backoff_ms": 50,
    },
    producer={
        "linger_ms": 5,
        "request_timeout_ms": 3000,
        "retry_backoff_ms": 50,
        "transaction_timeout_ms": TRANSACTION_TIMEOUT_MS,
    },
)

_PATIENCE: Final = {
    "request_timeout_ms": 3000,
    "retry_backoff_ms": 50,
    "reconnect_backoff_ms": 50,
    "reconnect_backoff_max_ms": 500,
}
KAFKA_PYTHON: Final = InPython(
    program="onceproof.harness.subjects.group.member_kafka_python",
    consumer={**_READING, **_PATIENCE},
    producer={
        **_PATIENCE,
        "linger_ms": 5,
        "delivery_timeout_ms": 15_000,
        "max_block_ms": 10_000,
        "transaction_timeout_ms": TRANSACTION_TIMEOUT_MS,
    },
)

ELSEWHERE: Final[Mapping[Client, Elsewhere]] = {
    "franz-go": InGo(program="franzmember", module="github.com/twmb/franz-go"),
    "sarama": InGo(program="saramamember", module="github.com/IBM/sarama"),
    "kafkajs": InNode(client="kafkajs", package="kafkajs"),
    "confluent-javascript": InNode(client="confluent", package="@confluentinc/kafka-javascript"),
}
IN_PYTHON: Final[Mapping[Client, InPython]] = {
    "librdkafka": LIBRDKAFKA,
    "aiokafka": AIOKAFKA,
    "kafka-python": KAFKA_PYTHON,
}
