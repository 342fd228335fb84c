"""What can be explored: producers, groups that read, transform and write, and programs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Final, Literal, get_args

from onceproof.checkers import Claim
from onceproof.harness.explore.acts import Single
from onceproof.harness.explore.bench.lanes.alone import AloneLane
from onceproof.harness.explore.bench.lanes.base import Lane, Surroundings
from onceproof.harness.explore.bench.lanes.connect import ConnectLane
from onceproof.harness.explore.bench.lanes.copier import CopierLane, SharedCopierLane
from onceproof.harness.explore.bench.lanes.flink import FlinkLane
from onceproof.harness.explore.bench.lanes.program import PLACEHOLDERS, ProgramLane
from onceproof.harness.explore.bench.lanes.queue import QueueLane
from onceproof.harness.explore.bench.lanes.sender import SenderLane
from onceproof.harness.explore.bench.lanes.spark import Job, SparkLane, job_of
from onceproof.harness.explore.bench.lanes.stored import PostgresLane, SqliteLane, StoredLane
from onceproof.harness.explore.bench.lanes.streams import StreamsLane
from onceproof.harness.explore.exploration import Load
from onceproof.harness.explore.points import QUEUE_BROKER, WINDOW, Place
from onceproof.harness.explore.trials import Aimed, Trial
from onceproof.harness.queues.base import Queues
from onceproof.harness.subjects.connect.source import MirrorSource
from onceproof.harness.subjects.group.clients import Client
from onceproof.harness.subjects.group.subject import ConsumerGroup, Missing
from onceproof.harness.subjects.group.task import Commits
from onceproof.harness.subjects.queue.moments import AFTER_COMMIT, BEFORE_COMMIT
from onceproof.harness.subjects.queue.subject import QueueForwarder
from onceproof.harness.subjects.stored.subject import StoringConsumers
from onceproof.harness.tools.setup import Tools
from onceproof.harness.user_pipeline.subject import OwnPipeline
from onceproof.harness.workload.senders.aiokafka import AIOKAFKA
from onceproof.harness.workload.senders.base import Sender
from onceproof.harness.workload.senders.confluent_javascript import CONFLUENT_JAVASCRIPT
from onceproof.harness.workload.senders.franz_go import FRANZ_GO
from onceproof.harness.workload.senders.java import JAVA, JAVA_DEFAULTS
from onceproof.harness.workload.senders.kafka_python import KAFKA_PYTHON
from onceproof.harness.workload.senders.kafkajs import BY_PARTITION
from onceproof.harness.workload.senders.librdkafka import LIBRDKAFKA, Librdkafka
from onceproof.harness.workload.senders.sarama import SARAMA


@dataclass(frozen=True, kw_only=True)
class Subject(ABC):
    """A client that can be explored.

    Attributes:
        audience: the clients of the stage among which it is.
        observed: whether a consumer reads along with `read_committed`, as the claims require.
        lanes: how many trials run side by side at most, since two cores bear only so many JVMs.
    """

    audience: ClassVar[str] = "pipeline"
    observed: ClassVar[bool] = False
    lanes: ClassVar[int] = 24

    @property
    def alone(self) -> bool:
        """Whether each trial needs a stage of its own, since its names are always the same."""
        return False

    @property
    @abstractmethod
    def name(self) -> str: ...

    @property
    @abstractmethod
    def says(self) -> str:
        """What it is, in a few words."""

    @property
    def runtimes(self) -> frozenset[str]:
        """The runtimes that it uses besides brokers; see `harness.tools.runtimes.known`."""
        return frozenset()

    def queues(self, tools: Tools) -> Queues | None:
        """Return the queue broker that it needs; by default none."""
        return None

    @property
    def twin(self) -> Twin:
        """The broken twin that runs beside every batch, which must be caught.

        By default a group that does not rewind after an abort, so that inputs are lost.
        """
        return _NOT_REWOUND

    @abstractmethod
    def lane(self, name: str, load: Load, around: Surroundings) -> Lane: ...


@dataclass(frozen=True, kw_only=True)
class Twin:
    """A broken subject, and a trial in which it fails."""

    subject: Subject
    trial: Trial
    load: Load


@dataclass(frozen=True, kw_only=True)
class ProducerSubject(Subject):
    """A producer.

    Attributes:
        transactional: whether it sends in transactions; otherwise it is only idempotent.
    """

    audience: ClassVar[str] = "producer"
    observed: ClassVar[bool] = True
    sender: Sender
    transactional: bool

    @property
    def runtimes(self) -> frozenset[str]:
        return frozenset({self.sender.runtime} if self.sender.runtime else ())

    @property
    def name(self) -> str:
        return f"{self.sender.name}-{'transactional' if self.transactional else 'idempotent'}"

    @property
    def says(self) -> str:
        kind = "transactions" if self.transactional else "idempotent records"
        return f"{self.sender.name}, {kind}"

    @property
    def twin(self) -> Twin:
        """Without idempotence, a lost response causes a duplicate."""
        return _UNPROTECTED

    def lane(self, name: str, load: Load, around: Surroundings) -> Lane:
        return SenderLane(
            name=name,
            load=load,
            around=around,
            sender=self.sender,
            transactional=self.transactional,
        )


@dataclass(frozen=True, kw_only=True)
class GroupSubject(Subject):
    """A consumer group that writes what it reads to another topic.

    Attributes:
        shared: whether it has two members, of which one is under test.
    """

    client: Client
    commits: Commits = "in-transaction"
    without: Missing = "nothing"
    shared: bool = False

    @property
    def runtimes(self) -> frozenset[str]:
        return ConsumerGroup(client=self.client).runtimes

    @property
    def name(self) -> str:
        kind = "group" if self.shared else "consume-transform-produce"
        without = "" if self.without == "nothing" else f"-no-{self.without}"
        if self.commits == "in-transaction":
            return f"{kind}-{self.client}{without}"
        return f"plain-consumer-{self.commits}"

    @property
    def says(self) -> str:
        members = "two members" if self.shared else "one member"
        if self.commits == "in-transaction":
            return f"{self.client}, effects and offsets in one transaction, {members}"
        return f"{self.client}, offsets committed {self.commits} the effects, {members}"

    def lane(self, name: str, load: Load, around: Surroundings) -> Lane:
        kind = SharedCopierLane if self.shared else CopierLane
        return kind(
            name=name,
            load=load,
            around=around,
            client=self.client,
            commits=self.commits,
            without=self.without,
        )


@dataclass(frozen=True, kw_only=True)
class StoredSubject(Subject):
    """A consumer that stores its offsets in the transaction of its effects, in a database.

    Attributes:
        commits: `after` for the broken twin, which commits its offsets in Kafka, after the effects.
    """

    lanes: ClassVar[int] = 8
    lane_of: type[StoredLane]
    commits: Literal["in-transaction", "after"] = "in-transaction"

    @property
    def runtimes(self) -> frozenset[str]:
        return self._consumers.runtimes

    @property
    def name(self) -> str:
        return self._consumers.name

    @property
    def _consumers(self) -> StoringConsumers:
        return StoringConsumers(kind=self.lane_of.kind, commits=self.commits)

    @property
    def says(self) -> str:
        return f"librdkafka, effects and offsets in one transaction of {self.lane_of.kind}"

    @property
    def twin(self) -> Twin:
        """With offsets in Kafka, a kill between the effects and their offsets causes duplicates."""
        return Twin(
            subject=replace(self, commits="after"),
            trial=_struck(
                "client killed before"
                " @ consumer/request/OffsetCommit/commit/first/group-coordinator",
                ends=1,
                ended_by="OffsetCommit",
            ),
            load=Load(transactions=3),
        )

    def lane(self, name: str, load: Load, around: Surroundings) -> Lane:
        return self.lane_of(
            name=name, load=load, around=around, client="librdkafka", commits=self.commits
        )


@dataclass(frozen=True, kw_only=True)
class QueueSubject(Subject):
    """A forwarder between two queues."""

    lanes: ClassVar[int] = 6
    forwarder: QueueForwarder
    summary: str

    @property
    def runtimes(self) -> frozenset[str]:
        return self.forwarder.runtimes

    @property
    def name(self) -> str:
        return self.forwarder.name

    @property
    def says(self) -> str:
        return self.summary

    def queues(self, tools: Tools) -> Queues:
        return Queues(settings=self.forwarder.queue_broker, tools=tools)

    @property
    def twin(self) -> Twin:
        """Acknowledged after its effect, a message is delivered again and has a second one."""
        point = f"{QueueLane.role}/{WINDOW}/{BEFORE_COMMIT}/commit/first/{QUEUE_BROKER}"
        return Twin(
            subject=replace(
                self,
                forwarder=replace(self.forwarder, acknowledge="client", duplicate_ids=False),
            ),
            trial=_struck(f"client killed @ {point}", ends=1, ended_by=AFTER_COMMIT),
            load=Load(transactions=3, records=1),
        )

    def lane(self, name: str, load: Load, around: Surroundings) -> Lane:
        return QueueLane(
            name=name, load=load, around=around, subject=replace(self.forwarder, sink=name)
        )


@dataclass(frozen=True, kw_only=True)
class StreamsSubject(Subject):
    """An application of Kafka Streams, exactly-once."""

    lanes: ClassVar[int] = 2

    @property
    def runtimes(self) -> frozenset[str]:
        return frozenset({"kafka-clients"})

    @property
    def name(self) -> str:
        return "kafka-streams"

    @property
    def says(self) -> str:
        return "Kafka Streams, exactly_once_v2, one instance"

    def lane(self, name: str, load: Load, around: Surroundings) -> Lane:
        return StreamsLane(name=name, load=load, around=around, client="java")


@dataclass(frozen=True, kw_only=True)
class FlinkSubject(Subject):
    """A Flink job, exactly-once."""

    lanes: ClassVar[int] = 2

    @property
    def runtimes(self) -> frozenset[str]:
        return frozenset({"flink"})

    @property
    def name(self) -> str:
        return "flink"

    @property
    def says(self) -> str:
        return "Apache Flink, DeliveryGuarantee.EXACTLY_ONCE, a job with one task"

    def lane(self, name: str, load: Load, around: Surroundings) -> Lane:
        return FlinkLane(name=name, load=load, around=around, client="java")


@dataclass(frozen=True, kw_only=True)
class ConnectSubject(Subject):
    """A source connector of Kafka Connect.

    Attributes:
        exactly: whether exactly-once support is enabled.
    """

    lanes: ClassVar[int] = 2
    exactly: bool = True

    @property
    def runtimes(self) -> frozenset[str]:
        return frozenset({"connect"})

    @property
    def name(self) -> str:
        return MirrorSource(exactly=self.exactly).name

    @property
    def says(self) -> str:
        return "Kafka Connect, MirrorMaker's source with exactly-once support, one worker"

    @property
    def twin(self) -> Twin:
        """Without exactly-once support, a kill between records and offsets causes duplicates."""
        single = Single.parse("client killed after @ worker/response/Produce/work/first/leader")
        place = Place(life=1, nth=2)
        return Twin(
            subject=replace(self, exactly=False),
            trial=Trial(aimed=(Aimed(single=single, place=place),)),
            load=Load(transactions=3),
        )

    def lane(self, name: str, load: Load, around: Surroundings) -> Lane:
        return ConnectLane(name=name, load=load, around=around, client="java", exactly=self.exactly)


@dataclass(frozen=True, kw_only=True)
class SparkQuery(Subject):
    """A PySpark query with its checkpoint."""

    lanes: ClassVar[int] = 2
    job: Job

    @property
    def runtimes(self) -> frozenset[str]:
        return frozenset({"spark"})

    @property
    def name(self) -> str:
        return f"spark-{self.job}"

    @property
    def says(self) -> str:
        return job_of(self.job, self.name).says

    def lane(self, name: str, load: Load, around: Surroundings) -> Lane:
        return SparkLane(name=name, load=load, around=around, kind=self.job)


@dataclass(frozen=True, kw_only=True)
class ProgramSubject(Subject):
    """A user's program.

    Attributes:
        pipeline: the program, its input and its output as given by the user.
        claims: the claims about it.
    """

    pipeline: OwnPipeline
    claims: tuple[Claim, ...]

    @property
    def name(self) -> str:
        return "verify"

    @property
    def says(self) -> str:
        return self.pipeline.says

    @property
    def alone(self) -> bool:
        return not self.pipeline.asked.issuperset(PLACEHOLDERS)

    def lane(self, name: str, load: Load, around: Surroundings) -> Lane:
        kind = AloneLane if self.alone else ProgramLane
        return kind(
            name=name, load=load, around=around, pipeline=self.pipeline, claimed=self.claims
        )


def _struck(single: str, *, ends: int = 0, ended_by: str = "EndTxn") -> Trial:
    place = Place(life=1, nth=1, ends=ends, ended_by=ended_by)
    return Trial(aimed=(Aimed(single=Single.parse(single), place=place),))


_UNPROTECTED: Final = Twin(
    subject=ProducerSubject(sender=Librdkafka(idempotent=False), transactional=False),
    trial=_struck("response lost @ producer/response/Produce/work/first/leader"),
    load=Load(transactions=3),
)
_NOT_REWOUND: Final = Twin(
    subject=GroupSubject(client="librdkafka", without="rewind"),
    trial=_struck(
        "refused UNKNOWN_MEMBER_ID @ consumer/request/TxnOffsetCommit/work/first/group-coordinator",
        ends=1,
    ),
    load=Load(transactions=3),
)
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
