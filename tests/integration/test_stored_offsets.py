"""Consumers that store their offsets with their rows."""

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
from tests.integration.faults import active_fault, context
from tests.integration.staging import Staged, eventually, flowing

pytestmark = pytest.mark.integration

PARTITIONS = 2


class Consumers:
    """Consumers with their own topic."""

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
        """Send payments of ten cents to all partitions in turn."""
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
        """Send payments for the duration of the block."""
        return flowing(lambda: self.send(6 * PARTITIONS))

    def wait_done(self) -> None:
        """Wait for one row of each payment; assert offsets and balances."""
        books = self.members.audit.books()
        expected = Counter(f"r-{n}" for n in range(self.sent))
        eventually(
            lambda: Counter(effect.record for effect in books.effects()) == expected,
            f"one row of each of {self.sent}",
            books.size,
        )
        ends = {(self.topic, p): self.sent // PARTITIONS for p in range(PARTITIONS)}
        assert self.members.positions() == ends
        balances = {s.state_key: s.amount for s in books.states() if s.aggregate == "balance"}
        assert sum(amount or 0 for amount in balances.values()) == 10 * self.sent
        assert not books.hanging()

    def hazards(self) -> list[str]:
        """Hazards that the consumers recorded."""
        lines = (
            json.loads(line)
            for file in self.folder.glob("member-*.jsonl")
            for line in file.read_text().splitlines()
        )
        return [line["hazard"] for line in lines if line["t"] == "hazards"]


@contextlib.contextmanager
def working(kind: Kind, staging: Staged, topic: str, folder: Path) -> Iterator[Consumers]:
    """Run consumers that have processed their first records."""
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
    with working("postgres", staging, topic(PARTITIONS), tmp_path) as found:
        yield found
    # All tests share the database.
    with psycopg.connect(staging.stage.database(AUDITOR)) as connection:
        connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")


def test_stored_offsets_resolve_commits_in_doubt(consumers: Consumers) -> None:
    instance = consumers.staging.instance("member-0")
    with (
        consumers.flowing(),
        active_fault(world(consumers), "cut-at-commit member-0 lands") as (_, landed),
    ):
        assert "of member-0 was held during its COMMIT" in landed
        assert "a new session of member-0 waited for its rows before transaction" in landed
        assert landed.endswith("was committed")
    with (
        consumers.flowing(),
        active_fault(world(consumers), "cut-at-commit member-0 undone") as (_, undone),
    ):
        assert undone.endswith("was aborted")
    consumers.send(100)
    consumers.wait_done()
    assert consumers.hazards() == ["refused-write"], "the late one was met, the undone one was not"
    assert consumers.staging.instance("member-0") == instance, "nobody started it anew"
    with pytest.raises(StageTrouble, match="already has a table `ledger`"):
        consumers.members.audit.prepare()


def test_consumer_killed_at_landed_commit_writes_each_row_once(consumers: Consumers) -> None:
    with (
        consumers.flowing(),
        active_fault(world(consumers), "kill member-0 --at commit-lands") as (_, proof),
    ):
        assert "ended by signal 9: transaction" in proof
        assert proof.endswith("was committed")
    consumers.wait_done()


def test_consumer_killed_during_undone_sqlite_commit_writes_each_row_once(
    staging: Staged, topic: Callable[..., str], tmp_path: Path
) -> None:
    with working("sqlite", staging, topic(PARTITIONS), tmp_path) as consumers:
        command = "kill member-0 --at commit-undone"
        with consumers.flowing(), active_fault(world(consumers), command) as (_, proof):
            assert "was held during its COMMIT" in proof
            assert proof.endswith("so nothing was written")
        consumers.wait_done()


def world(consumers: Consumers):  # type: ignore[no-untyped-def]
    return context(consumers.staging.stage, consumers.topic, consumers.members)
