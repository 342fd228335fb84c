"""A consumer group on real brokers: what it processes, and what it does when a member goes."""

from __future__ import annotations

import contextlib
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer

from harness.bench import open_reader
from harness.identity import RECORD_HEADER
from harness.kafka.log_reader import LogReader
from harness.kafka.metadata import ClusterView
from harness.sinks.topic import TopicSink
from harness.stage.topology import AUDITOR, node_id
from harness.subjects.group.members import Members
from harness.subjects.group.subject import ConsumerGroup
from harness.subjects.pipeline import PipelineParts
from harness.tools.setup import ensure
from harness.wait import Stop
from tests.integration.faults import at_work, bench
from tests.integration.staging import Staged, eventually

pytestmark = pytest.mark.integration

PARTITIONS = 3


class Group:
    """A group at work on topics of its own."""

    def __init__(self, staging: Staged, source: str, sink: str, folder: Path) -> None:
        self.source, self.sink = source, sink
        self.staging = staging
        self.sent = 0
        # A name of its own, because the stage is everybody's.
        self.members: Members = ConsumerGroup(group=f"group-of-{source}", sink=sink).pipeline(
            PipelineParts(
                stage=staging.stage,
                tools=ensure(stage=False),
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
        """Payments, on all partitions in turn."""
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

    @contextlib.contextmanager
    def flowing(self) -> Iterator[None]:
        """Payments come for as long as the block lasts."""
        over = threading.Event()

        def go_on() -> None:
            while not over.wait(0.05):
                self.send(6 * PARTITIONS)

        sender = threading.Thread(target=go_on)
        sender.start()
        try:
            yield
        finally:
            over.set()
            sender.join()

    def effects(self) -> Counter[str | None]:
        """How many effects each record has for a reader of what is committed."""
        with self.reader() as reader:
            sink = TopicSink(reader, topic=self.sink, view="read_committed")
            return Counter(effect.record for effect in sink.effects())

    def reader(self) -> LogReader:
        stage = self.staging.stage
        view = ClusterView({node_id(n): stage.bootstrap(AUDITOR, n) for n in stage.brokers})
        return open_reader(stage, view)

    def wait_done(self) -> None:
        """Every record has its one effect, and the group's positions are behind the last one."""
        wanted = Counter(f"r-{n}" for n in range(self.sent))
        eventually(lambda: self.effects() == wanted, "one effect of each", lambda: self.sent)
        ends = {(self.source, p): self.sent // PARTITIONS for p in range(PARTITIONS)}
        eventually(lambda: self.members.positions() == ends, f"positions {ends}")


@pytest.fixture
def group(staging: Staged, topic: Callable[..., str], tmp_path: Path) -> Iterator[Group]:
    found = Group(staging, topic(PARTITIONS), topic(PARTITIONS), tmp_path)
    with contextlib.closing(found.members):
        try:
            found.members.start()
            found.send(150)
            found.wait_done()
            yield found
        finally:
            found.members.close()
            for process in staging.living:
                if process.name in found.members.names:
                    process.kill("the test is over")


def test_a_member_killed_and_back(group: Group) -> None:
    with at_work(world(group), "kill-member member-0") as (fault, proof):
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


def test_a_member_paused_until_the_others_have_all_that_it_had(group: Group) -> None:
    life = group.staging.instance("member-0")
    with group.flowing(), at_work(world(group), "pause-member member-0") as (fault, proof):
        assert fault.target == life
        assert "stands still; the group has only member-1, who committed" in proof
        assert "also in all that it had" in proof
    group.wait_done()
    assert group.staging.instance("member-0") == life, "nobody started it anew"


def test_a_member_that_ends_by_itself_is_started_again(group: Group) -> None:
    life = group.members.process("member-1")
    life.popen.kill()
    eventually(lambda: group.staging.instance("member-1") != life.instance, "another life")
    group.members.check()
    group.send(150)
    group.wait_done()


def world(group: Group):  # type: ignore[no-untyped-def]
    return bench(group.staging.stage, group.source, group.members)
