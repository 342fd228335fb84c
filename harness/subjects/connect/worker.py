"""One worker of Kafka Connect in distributed mode: its settings and its command line."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from onceproof.harness.java import programs
from onceproof.harness.subjects.connect.login import EXTENSION
from onceproof.harness.subjects.connect.offsets import OFFSETS
from onceproof.harness.subjects.group.task import SESSION_TIMEOUT_MS, MemberTask
from onceproof.harness.tools.jars_for import jars_for, usual_kafka_jars
from onceproof.harness.tools.jvm import jvm, properties
from onceproof.harness.tools.setup import Tools

GROUP: Final = "onceproof-workers"
CONFIGS: Final = "onceproof-connect-configs"
STATUS: Final = "onceproof-connect-status"
_MAIN: Final = "org.apache.kafka.connect.cli.ConnectDistributed"
_JVM: Final = ("-Xmx256m", "-Xms64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_RECONNECTING: Final = {
    "reconnect.backoff.ms": 50,
    "reconnect.backoff.max.ms": 500,
    "retry.backoff.ms": 50,
    "retry.backoff.max.ms": 200,
}
SETTINGS: Final[Mapping[str, Any]] = {
    "key.converter": "org.apache.kafka.connect.converters.ByteArrayConverter",
    "value.converter": "org.apache.kafka.connect.converters.ByteArrayConverter",
    "config.storage.topic": CONFIGS,
    "offset.storage.topic": OFFSETS,
    "status.storage.topic": STATUS,
    "plugin.discovery": "service_load",
    "rest.extension.classes": EXTENSION,
    # Reassign a lost worker's tasks at once.
    "scheduled.rebalance.max.delay.ms": 0,
    "session.timeout.ms": SESSION_TIMEOUT_MS,
    "heartbeat.interval.ms": 500,
    "rebalance.timeout.ms": 60_000,
    "worker.sync.timeout.ms": 3_000,
    "task.shutdown.graceful.timeout.ms": 2_000,
    **_RECONNECTING,
    **{f"producer.{name}": value for name, value in _RECONNECTING.items()},
    "producer.request.timeout.ms": 3_000,
    "producer.linger.ms": 5,
    **{f"consumer.{name}": value for name, value in _RECONNECTING.items()},
    "consumer.session.timeout.ms": SESSION_TIMEOUT_MS,
    "consumer.heartbeat.interval.ms": 1_000,
    "consumer.isolation.level": "read_committed",
    "consumer.auto.offset.reset": "earliest",
}


@dataclass(frozen=True, kw_only=True)
class WorkerTask(MemberTask):
    """The task of one worker; `address` is host and port of its REST API."""

    address: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    def save(self, path: Path) -> None:
        host, _, port = self.address.rpartition(":")
        own = {
            "bootstrap.servers": self.bootstrap,
            "group.id": self.group,
            "client.id": self.name,
            "listeners": f"http://{self.address}",
            "rest.advertised.host.name": host,
            "rest.advertised.port": port,
        }
        path.write_text(properties(own | dict(self.settings)))


@dataclass(frozen=True, kw_only=True)
class ConnectProgram:
    """A Java executable, and the class path of a worker."""

    java: Path
    class_path: str

    def command(self, jaas: Path, properties: Path) -> list[str | Path]:
        logging = programs.LOGGING.as_uri()
        return [
            *jvm(self.java, *_JVM), f"-Dlog4j2.configurationFile={logging}",
            f"-Djava.security.auth.login.config={jaas.as_uri()}",
            "-cp", self.class_path, _MAIN, properties,
        ]  # fmt: skip


def connect_program(tools: Tools) -> ConnectProgram:
    """Return Kafka Connect, downloaded if necessary, for a run on any backend.

    Raises:
        SetupError: a jar cannot be downloaded.
    """
    java = tools.java_home / "bin" / "java"
    chosen = tools.chosen.jars.get("connect")
    folders = (
        [jars_for(tools, "kafka-connect"), usual_kafka_jars(tools)] if chosen is None else [chosen]
    )
    return ConnectProgram(java=java, class_path=os.pathsep.join(f"{f}/*" for f in folders))
