"""Consumers that store their offsets with their rows, on real brokers and a real database."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from confluent_kafka import Producer

from onceproof.harness.context.pipeline import PipelineParts
from onceproof.harness.history.identity import RECORD_HEADER
from onceproof.harness.links.topology import AUDITOR
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.subjects.stored.members import StoringMembers
from onceproof.harness.subjects.stored.subject import StoringConsumers
from onceproof.harness.subjects.stored.task import Kind
from onceproof.harness.tools.setup import ensure
from onceproof.harness.wait import Stop
from tests.integration.faults import at_work, context
from tests.integration.staging import Staged, eventually, flowing

pytestmark = pytest.mark.integration

PARTITIONS = 2


class Consumers:
    """Consumers at work on a topic of their own."""

    def __init__(self, staging: Staged, topic: str, kind: Kind, folder: Path) -> None:
        self.topic, self.staging, self.folder = topic, staging, folder
        self.sent = 0
        subject = StoringConsumers(kind=kind, members=1, group=f"group-of-{topic}")
        self.members: StoringMembers = subject.pipeline(
            PipelineParts(
                stage=staging.stage,
                tools=ensure(),
                processes=staging.processes,
                work=folder,
                history=folder,
                address=staging.block.address(30, 1),
                topic=topic,
                seed=0,
                stop=Stop(),
            )
        )
        self._producer = Producer({"bootstrap.servers": staging.stage.bootstrap(AUDITOR)})

    def send(self, count: int) -> None:
        """Payments of ten cents each, on all partitions in turn."""
        for n in range(self.sent, self.sent + count):
            payment = {"record": f"r-{n}", "account": f"a-{n % 5}", "amount_cents": 10}
            self._producer.produce(
                self.topic,
                partition=n % PARTITIONS,
                value=json.dumps(payment).encode(),
                headers=[(RECORD_HEADER, f"r-{n}".encode())],
            )
        assert self._producer.flush(60) == 0
        self.sent += count

    def flowing(self) -> contextlib.AbstractContextManager[None]:
        """Payments come for as long as the block lasts."""
        return flowing(lambda: self.send(6 * PARTITIONS))

    def wait_done(self) -> None:
        """Every payment has its one row, every balance is right, every offset is stored."""
        books = self.members.audit.books()
        wanted = Counter(f"r-{n}" for n in range(self.sent))
        eventually(
            lambda: Counter(effect.record for effect in books.effects()) == wanted,
            f"one row of each of {self.sent}",
            books.size,
        )
        ends = {(self.topic, p): self.sent // PARTITIONS for p in range(PARTITIONS)}
        assert self.members.positions() == ends
        balances = {s.state_key: s.amount for s in books.states() if s.aggregate == "balance"}
        assert sum(amount or 0 for amount in balances.values()) == 10 * self.sent
        assert not books.hanging()

    def told(self) -> list[str]:
        """Hazards that consumers told of."""
        lines = (
            json.loads(line)
            for file in self.folder.glob("member-*.jsonl")
            for line in file.read_text().splitlines()
        )
        return [line["hazard"] for line in lines if line["t"] == "hazards"]


@contextlib.contextmanager
def at_work_with(kind: Kind, staging: Staged, topic: str, folder: Path) -> Iterator[Consumers]:
    """Consumers that have done their first work; ended in whatever way the block ends."""
    consumers = Consumers(staging, topic, kind, folder)
    try:
        consumers.members.start()
        consumers.send(100)
        consumers.wait_done()
        yield consumers
    finally:
        consumers.members.close()
        for process in staging.living:
            if process.name in consumers.members.names:
                process.kill("the test is over")


@pytest.fixture
def consumers(staging: Staged, topic: Callable[..., str], tmp_path: Path) -> Iterator[Consumers]:
    with at_work_with("postgres", staging, topic(PARTITIONS), tmp_path) as found:
        yield found
    # The database is everybody's.
    with psycopg.connect(staging.stage.database(AUDITOR)) as connection:
        connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")


def test_commits_in_doubt_are_decided_by_what_is_stored(consumers: Consumers) -> None:
    life = consumers.staging.instance("member-0")
    with (
        consumers.flowing(),
        at_work(world(consumers), "cut-at-commit member-0 lands") as (_, late),
    ):
        assert "of member-0 was held during its COMMIT" in late
        assert "a new session of member-0 waited for its rows before transaction" in late
        assert late.endswith("was committed")
    with consumers.flowing(), at_work(world(consumers), "cut-at-commit member-0 undone") as (_, no):
        assert no.endswith("was aborted")
    consumers.send(100)
    consumers.wait_done()
    assert consumers.told() == ["refused-write"], "the late one was met, the undone one was not"
    assert consumers.staging.instance("member-0") == life, "nobody started it anew"
    with pytest.raises(StageTrouble, match="already has a table `ledger`"):
        consumers.members.audit.prepare()


def test_a_consumer_killed_when_its_commit_lands_all_the_same(consumers: Consumers) -> None:
    with (
        consumers.flowing(),
        at_work(world(consumers), "kill member-0 --at commit-lands") as (_, said),
    ):
        assert "ended by signal 9: transaction" in said
        assert said.endswith("was committed")
    consumers.wait_done()


def test_a_consumer_killed_amid_a_commit_into_a_file(
    staging: Staged, topic: Callable[..., str], tmp_path: Path
) -> None:
    with at_work_with("sqlite", staging, topic(PARTITIONS), tmp_path) as consumers:
        words = "kill member-0 --at commit-undone"
        with consumers.flowing(), at_work(world(consumers), words) as (_, said):
            assert "was held during its COMMIT" in said
            assert said.endswith("so nothing was written")
        consumers.wait_done()


def world(consumers: Consumers):  # type: ignore[no-untyped-def]
    return context(consumers.staging.stage, consumers.topic, consumers.members)
