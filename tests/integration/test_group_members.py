"""Consumer groups on real brokers: effects are exactly once, also when a member fails."""

from __future__ import annotations

import contextlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from confluent_kafka import Producer

from onceproof.harness.context.pipeline import PipelineParts
from onceproof.harness.context.run_context import open_reader
from onceproof.harness.history.identity import RECORD_HEADER
from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.kafka.metadata import ClusterView
from onceproof.harness.lab.cluster import Cluster
from onceproof.harness.links.gate.rules import MessageMatch
from onceproof.harness.links.topology import AUDITOR, Link, node_id
from onceproof.harness.sinks.topic import TopicSink
from onceproof.harness.subjects.group.clients import Client
from onceproof.harness.subjects.group.members import Members
from onceproof.harness.subjects.group.subject import ConsumerGroup
from onceproof.harness.subjects.streams.kafka_streams import KafkaStreams
from onceproof.harness.tools.setup import ensure
from onceproof.harness.wait import Stop
from tests.end_to_end.catalogue import LATER
from tests.integration.faults import active_fault, context
from tests.integration.staging import Staged, eventually, flowing

pytestmark = pytest.mark.integration

PARTITIONS = 3


class Group:
    """A group with its own topics."""

    def __init__(
        self, staging: Staged, source: str, subject: ConsumerGroup | KafkaStreams, folder: Path
    ) -> None:
        self.source, self.sink = source, subject.sink
        self.client = getattr(subject, "client", None)
        self.staging = staging
        self.sent = 0
        self.members: Members = subject.pipeline(
            PipelineParts(
                stage=staging.stage,
                tools=ensure(),
                processes=staging.processes,
                work=folder,
                history=folder,
                address=staging.block.address(30, 1),
                topic=source,
                seed=0,
                stop=Stop(),
            )
        )
        self._producer = Producer({"bootstrap.servers": staging.stage.bootstrap(AUDITOR)})

    def send(self, count: int) -> None:
        """Send payments to all partitions in turn."""
        for n in range(self.sent, self.sent + count):
            record = f"r-{n}"
            payment = {"record": record, "account": "a", "amount_cents": n, "note": ""}
            self._producer.produce(
                self.source,
                partition=n % PARTITIONS,
                value=json.dumps(payment).encode(),
                headers=[(RECORD_HEADER, record.encode())],
            )
        assert self._producer.flush(60) == 0
        self.sent += count

    def flowing(self) -> contextlib.AbstractContextManager[None]:
        """Send payments for the duration of the block."""
        return flowing(lambda: self.send(6 * PARTITIONS))

    def effects(self) -> Counter[str | None]:
        """The number of committed effects of each record."""
        with self.reader() as reader:
            sink = TopicSink(reader, topic=self.sink, view="read_committed")
            return Counter(effect.record for effect in sink.effects())

    def reader(self) -> LogReader:
        stage = self.staging.stage
        view = ClusterView({node_id(n): stage.bootstrap(AUDITOR, n) for n in stage.brokers})
        return open_reader(stage, view)

    def wait_done(self) -> None:
        """Wait until each record has one effect and the group has committed the end offsets."""
        expected = Counter(f"r-{n}" for n in range(self.sent))
        eventually(lambda: self.effects() == expected, "one effect of each", lambda: self.sent)
        ends = {(self.source, p): self.sent // PARTITIONS for p in range(PARTITIONS)}
        eventually(
            lambda: self.members.positions() == ends, f"positions {ends}", self.members.positions
        )


@contextlib.contextmanager
def working(group: Group) -> Iterator[Group]:
    """Run a group that has processed its first records."""
    try:
        group.members.start()
        group.send(150)
        group.wait_done()
        yield group
    finally:
        group.members.close()
        for process in group.staging.living:
            if process.name in group.members.names:
                process.kill("the test is over")


@pytest.fixture
def group(
    request: pytest.FixtureRequest, staging: Staged, topic: Callable[..., str], tmp_path: Path
) -> Iterator[Group]:
    """A running group of librdkafka, or of the test's parameter."""
    source = topic(PARTITIONS)
    subject = getattr(request, "param", ConsumerGroup())
    # A unique name, because all tests share the stage.
    named = replace(subject, group=f"group-of-{source}", into=topic(PARTITIONS))
    with working(Group(staging, source, named, tmp_path)) as running_group:
        yield running_group


def of(*clients: Client, later: tuple[Client, ...] = ()) -> pytest.MarkDecorator:
    """The clients that a test is for, some of them only in `make test-faults`."""
    subjects = [
        pytest.param(
            ConsumerGroup(client=client), id=client, marks=[LATER] if client in later else []
        )
        for client in (*clients, *later)
    ]
    return pytest.mark.parametrize("group", subjects, indirect=True)


def refuse_once(group: Group) -> None:
    """Send payments until a broker has refused offsets of member-0 in a transaction."""
    stage = group.staging.stage
    refused = MessageMatch(
        direction="response", api="TxnOffsetCommit", group=group.members.group, client_id="member-0"
    )
    rule = refused.rule("error", error="ILLEGAL_GENERATION")
    placed = [stage.gate(Link("pipeline", node)).put(rule) for node in stage.brokers]
    try:
        with group.flowing():
            eventually(
                lambda: any(rule_on_link.fired for rule_on_link in placed),
                "a refusal",
                lambda: group.sent,
            )
    finally:
        for rule_on_link in placed:
            rule_on_link.remove()


def test_killed_kafka_streams_instance_resumes(
    staging: Staged, topic: Callable[..., str], tmp_path: Path
) -> None:
    source = topic(PARTITIONS)
    subject = KafkaStreams(group=f"group-of-{source}", into=topic(PARTITIONS))
    with working(Group(staging, source, subject, tmp_path)) as group:
        with active_fault(world(group), "kill member-0") as (fault, _):
            assert fault.target == staging.instance("member-0")
            group.send(150)
        group.send(150)
        group.wait_done()


@of(
    "librdkafka",
    "aiokafka",
    "kafka-python",
    later=("franz-go", "sarama", "kafkajs", "confluent-javascript"),
)
def test_killed_member_is_restarted(group: Group) -> None:
    with active_fault(world(group), "kill member-0") as (fault, proof):
        assert (fault.target, proof) == (
            group.staging.instance("member-0"),
            f"{group.staging.instance('member-0')} ended by signal 9",
        )
        killed = fault.target
        group.send(150)
    assert group.staging.instance("member-0") != killed, "it was started again"
    group.members.process("member-0")
    group.send(150)
    group.wait_done()


@of("librdkafka", "kafka-python")
def test_stopped_member_is_restarted(group: Group) -> None:
    with active_fault(world(group), "stop member-0") as (fault, proof):
        stopped = fault.target
        assert re.fullmatch(rf"{stopped} (ended by signal 15|exited with \d+)", proof)
        group.send(150)
    assert group.staging.instance("member-0") != stopped, "it was started again"
    group.send(150)
    group.wait_done()


def test_pause_lasts_until_other_members_took_over(group: Group) -> None:
    life = group.staging.instance("member-0")
    with group.flowing(), active_fault(world(group), "pause member-0") as (fault, proof):
        assert fault.target == life
        assert "is paused; the remaining members (member-1) have committed" in proof
        assert "also of all its former partitions" in proof
    group.wait_done()
    assert group.staging.instance("member-0") == life, "nobody started it anew"


def test_lab_sees_members_lag_and_ends(group: Group) -> None:
    cluster = Cluster(world(group))
    group.send(30)
    group.wait_done()

    def all_committed() -> bool:
        (billing,) = (g for g in cluster.now()["groups"] if g["group"] == name)
        return billing["lag"] == 0 and billing["state"] == "Stable"

    name = next(
        found["group"]
        for found in cluster.now()["groups"]
        if any(at["topic"] == group.source for at in found["committed"])
    )
    eventually(all_committed, "everything to be committed")
    found = cluster.now()
    (billing,) = (each for each in found["groups"] if each["group"] == name)
    assert sorted(each["client"] for each in billing["members"]) == ["member-0", "member-1"]
    assigned = [at for each in billing["members"] for at in each["partitions"]]
    assert sorted(assigned) == [f"{group.source}-{n}" for n in range(PARTITIONS)]
    ends = {e["partition"]: e["end"] for e in found["ends"] if e["topic"] == group.source}
    committed = {at["partition"]: at["offset"] for at in billing["committed"]}
    assert ends == committed


def test_crashed_member_is_restarted(group: Group) -> None:
    life = group.members.process("member-1")
    life.popen.kill()
    eventually(lambda: group.staging.instance("member-1") != life.instance, "another life")
    group.members.check()
    group.send(150)
    group.wait_done()


@of("librdkafka", "aiokafka", later=("kafka-python",))
def test_refused_offsets_are_committed_again(group: Group) -> None:
    life = group.staging.instance("member-0")
    refuse_once(group)
    group.wait_done()
    # Refused offsets are a fatal error for aiokafka: the member is restarted.
    assert group.client != "aiokafka" or group.staging.instance("member-0") != life


def world(group: Group):  # type: ignore[no-untyped-def]
    return context(group.staging.stage, group.source, group.members)
