"""The configuration of one broker of a run.

CONTROLLER is in `advertised.listeners` too. Without it, Raft advertises the raw listener address,
peers reconnect bypassing the proxies, and an isolated controller keeps its quorum. Kafka before 3.9
advertises no address for Raft, which uses the voters' own, and refuses this.
"""

from __future__ import annotations

import json
from pathlib import Path

from onceproof.harness.links.topology import AUDIENCES, AUDITOR, Topology
from onceproof.harness.stage.security import Security
from onceproof.harness.tools.jar_lock import KAFKA
from onceproof.harness.tools.jvm import properties
from onceproof.harness.tools.runtimes.known import numbers

_NEWER_GROUPS = ("consumer", "share", "streams")
"""Group types whose session timeout is set by the broker, not by the members."""
SETTINGS: dict[str, str | int] = {
    "process.roles": "broker,controller",
    "controller.listener.names": "CONTROLLER",
    "inter.broker.listener.name": "INTERNAL",
    "offsets.topic.replication.factor": 3,
    "offsets.topic.num.partitions": 3,
    "transaction.state.log.replication.factor": 3,
    "transaction.state.log.min.isr": 2,
    "transaction.state.log.num.partitions": 3,
    "min.insync.replicas": 2,
    "default.replication.factor": 3,
    "group.initial.rebalance.delay.ms": 0,
    "auto.create.topics.enable": "false",
    "log.cleaner.dedupe.buffer.size": 2_097_152,
    # Short limits, so that a dead or isolated broker is noticed within a run.
    "broker.session.timeout.ms": 6000,
    "broker.heartbeat.interval.ms": 1000,
    "replica.lag.time.max.ms": 6000,
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": 500,
    # Members cannot be removed: a killed one stays in its group until its session times out.
    **{
        f"group.{kind}.{name}.ms": milliseconds
        for kind in _NEWER_GROUPS
        for name, milliseconds in {
            "session.timeout": 10_000,
            "min.session.timeout": 6_000,
            "heartbeat.interval": 2_000,
            "min.heartbeat.interval": 1_000,
        }.items()
    },
    "group.share.record.lock.duration.ms": 15_000,
    "num.network.threads": 2,
    "num.io.threads": 4,
}
"""Settings of all brokers."""
_SINCE = {"group.share.": "4.0", "group.streams.": "4.1"}
"""Prefix of settings → Kafka version that brought them."""


def settings_of(kafka: str = KAFKA) -> dict[str, str | int]:
    """Return the settings that brokers of a version have; the report prints them too."""
    later = tuple(p for p, since in _SINCE.items() if numbers(kafka) < numbers(since))
    return {name: value for name, value in SETTINGS.items() if not name.startswith(later)}


def listener(audience: str) -> str:
    """Return the listener name of an audience: `pipeline-sink` → `PIPELINE_SINK`."""
    return audience.upper().replace("-", "_")


def server_properties(
    topology: Topology,
    node: int,
    data: Path,
    security: Security | None = None,
    *,
    kafka: str = KAFKA,
) -> str:
    """Return `server.properties` of broker `node` of version `kafka`, with its log in `data`.

    Without `security`, the listeners for clients are plain text.
    """
    host = topology.broker_host(node)
    listeners = {
        "INTERNAL": (topology.internal_port, f"b{node}"),
        "CONTROLLER": (topology.controller_port, f"b{node}"),
    }
    for_clients = [listener(audience) for audience in (*AUDIENCES, AUDITOR)]
    for audience, name in zip((*AUDIENCES, AUDITOR), for_clients, strict=True):
        listeners[name] = (
            topology.audience_port(audience),
            topology.audience_host(audience, node),
        )
    voters = ",".join(f"{n}@b{n}:{topology.controller_port}" for n in topology.nodes)
    advertised = dict(listeners)
    if numbers(kafka) < numbers("3.9"):
        del advertised["CONTROLLER"]
    protocols = dict.fromkeys(listeners, "PLAINTEXT")
    if security is not None:
        protocols |= dict.fromkeys(for_clients, security.protocol)
    settings = {
        **settings_of(kafka),
        **({} if security is None else security.broker_settings(for_clients)),
        "node.id": node,
        "controller.quorum.voters": voters,
        "listeners": ",".join(f"{name}://{host}:{port}" for name, (port, _) in listeners.items()),
        "advertised.listeners": ",".join(
            f"{name}://{seen}:{port}" for name, (port, seen) in advertised.items()
        ),
        "listener.security.protocol.map": ",".join(
            f"{name}:{protocol}" for name, protocol in protocols.items()
        ),
        "log.dirs": str(data),
    }
    return properties(settings)


def log4j_configuration() -> str:
    """Return a Log4j 2 configuration that logs to standard output."""
    return json.dumps(
        {
            "Configuration": {
                "Appenders": {
                    "Console": {
                        "name": "out",
                        "PatternLayout": {"pattern": "[%d{ISO8601}] %p %m (%c)%n"},
                    }
                },
                "Loggers": {"Root": {"level": "INFO", "AppenderRef": {"ref": "out"}}},
            }
        },
        indent=1,
    )
