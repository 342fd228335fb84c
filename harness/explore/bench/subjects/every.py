"""All built-in subjects, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, get_args

from onceproof.harness.explore.bench.lanes.stored import PostgresLane, SqliteLane
from onceproof.harness.explore.bench.subjects.base import Subject
from onceproof.harness.explore.bench.subjects.connect import ConnectSubject
from onceproof.harness.explore.bench.subjects.groups import GroupSubject
from onceproof.harness.explore.bench.subjects.jobs import FlinkSubject, StreamsSubject
from onceproof.harness.explore.bench.subjects.producers import ProducerSubject
from onceproof.harness.explore.bench.subjects.queues import QueueSubject
from onceproof.harness.explore.bench.subjects.spark import SparkQuery
from onceproof.harness.explore.bench.subjects.stored import StoredSubject
from onceproof.harness.subjects.group.clients import Client
from onceproof.harness.subjects.queue.subject import QueueForwarder
from onceproof.harness.workload.senders.aiokafka import AIOKAFKA
from onceproof.harness.workload.senders.base import Sender
from onceproof.harness.workload.senders.confluent_javascript import CONFLUENT_JAVASCRIPT
from onceproof.harness.workload.senders.franz_go import FRANZ_GO
from onceproof.harness.workload.senders.java import JAVA, JAVA_DEFAULTS
from onceproof.harness.workload.senders.kafka_python import KAFKA_PYTHON
from onceproof.harness.workload.senders.kafkajs import BY_PARTITION
from onceproof.harness.workload.senders.librdkafka import LIBRDKAFKA
from onceproof.harness.workload.senders.sarama import SARAMA

_SENDERS: Final[tuple[Sender, ...]] = (
    LIBRDKAFKA, JAVA, KAFKA_PYTHON, AIOKAFKA, FRANZ_GO, SARAMA, BY_PARTITION,
    CONFLUENT_JAVASCRIPT,
)  # fmt: skip
_CLIENTS: Final[tuple[Client, ...]] = get_args(Client)
_EVERY: Final[tuple[Subject, ...]] = (
    *(
        ProducerSubject(sender=sender, transactional=transactional)
        for sender in _SENDERS
        for transactional in (True, False)
    ),
    ProducerSubject(sender=JAVA_DEFAULTS, transactional=False),
    *(
        GroupSubject(client=client, shared=shared)
        for shared in (False, True)
        for client in _CLIENTS
    ),
    GroupSubject(client="aiokafka", without="outcomes"),
    GroupSubject(client="librdkafka", commits="after"),
    GroupSubject(client="librdkafka", commits="before"),
    StoredSubject(lane_of=SqliteLane),
    StoredSubject(lane_of=PostgresLane),
    QueueSubject(
        forwarder=QueueForwarder(client="jms"), summary="JMS, message and effect in one transaction"
    ),
    QueueSubject(
        forwarder=QueueForwarder(client="amqp"),
        summary="AMQP, message and effect in one transaction",
    ),
    QueueSubject(
        forwarder=QueueForwarder(client="jetstream", acknowledge="client", duplicate_ids=True),
        summary="NATS JetStream, message ids and a double ack",
    ),
    QueueSubject(
        forwarder=QueueForwarder(client="valkey", acknowledge="scripted"),
        summary="Valkey streams, a script that checks and acknowledges",
    ),
    StreamsSubject(),
    FlinkSubject(),
    ConnectSubject(),
    SparkQuery(job="file-sink"),
    SparkQuery(job="file-sink-listed"),
    SparkQuery(job="foreachbatch-kafka"),
    SparkQuery(job="kafka-sink"),
)
SUBJECTS: Final[Mapping[str, Subject]] = {subject.name: subject for subject in _EVERY}
