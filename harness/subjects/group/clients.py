"""Client libraries of members: which program runs each, with which settings.

The programs are not imported here, because only the members' processes need the clients.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from onceproof.harness.subjects.group.task import SESSION_TIMEOUT_MS, TRANSACTION_TIMEOUT_MS

Client = Literal["librdkafka", "java", "aiokafka", "kafka-python", "franz-go", "sarama"]


@dataclass(frozen=True, kw_only=True)
class InPython:
    """Members in Python that use one client; `program` is the module to run."""

    program: str
    consumer: Mapping[str, Any]
    producer: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class InGo:
    """Members in Go; their settings are in the program, a folder of `harness/go/`."""

    program: str
    module: str


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
        # On a busy machine a paused member may resume after more than 20 s. If its transaction had
        # timed out, it would be fenced, and there would be no zombie to observe.
        "transaction_timeout_ms": 3 * TRANSACTION_TIMEOUT_MS,
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

IN_GO: Final[Mapping[Client, InGo]] = {
    "franz-go": InGo(program="franzmember", module="github.com/twmb/franz-go"),
    "sarama": InGo(program="saramamember", module="github.com/IBM/sarama"),
}
IN_PYTHON: Final[Mapping[Client, InPython]] = {
    "librdkafka": LIBRDKAFKA,
    "aiokafka": AIOKAFKA,
    "kafka-python": KAFKA_PYTHON,
}
