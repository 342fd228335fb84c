"""Pipelines of somebody's own, seen from outside: their tables, topics, and how far they are."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator

import psycopg
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from harness.bench import open_reader
from harness.clock import now
from harness.identity import RECORD_HEADER
from harness.kafka.metadata import ClusterView
from harness.own.effects import Yield
from harness.own.group_commits import GroupCommits
from harness.own.identity import Rule
from harness.own.look import QUIET, Look
from harness.own.outputs.output import Output, OwnSink, Where
from harness.own.outputs.table import Table
from harness.own.together import Together
from harness.stage.topology import AUDITOR, node_id
from tests.integration.staging import Staged, eventually

pytestmark = pytest.mark.integration
ID = Rule.parse("json:$.id")


def reader(staging: Staged):
    stage = staging.stage
    addresses = {node_id(name): stage.bootstrap(AUDITOR, name) for name in stage.brokers}
    return open_reader(stage, ClusterView(addresses))


def sent(staging: Staged, topic: str, *ids: str, **settings: str) -> None:
    producer = Producer({"bootstrap.servers": staging.stage.bootstrap(AUDITOR), **settings})
    for id_ in ids:
        value = json.dumps({"id": id_})
        producer.produce(topic, value=value, headers=[(RECORD_HEADER, id_.encode())])
    assert producer.flush(60) == 0


@pytest.fixture
def table(staging: Staged) -> Iterator[str]:
    name = f"orders_{uuid.uuid4().hex[:8]}"
    yield name
    with psycopg.connect(staging.stage.database(AUDITOR)) as connection:
        connection.execute(f"DROP TABLE IF EXISTS {name}")


def test_a_table_is_read_as_anybody_reads_it(staging: Staged, table: str) -> None:
    database = staging.stage.database(AUDITOR)
    found = Table(database, table)
    assert (found.size(), list(found.found()), found.hanging()) == (0, [], False)
    with psycopg.connect(database) as writer:
        writer.execute(f"CREATE TABLE {table} (id text, at timestamptz DEFAULT now())")
        writer.commit()
        writer.execute(f"INSERT INTO {table} VALUES ('a'), ('b'), ('a')")
        assert (found.size(), found.hanging()) == (0, True)
        writer.commit()
        before = found.size()
        assert (before > 0, found.hanging()) == (True, False)
    places = {each.position for each in found.found()}
    assert [ID.find(each.written) for each in found.found()] == ["a", "b", "a"]
    assert len(places) == 3
    with psycopg.connect(database) as writer:
        writer.execute(f"UPDATE {table} SET id = 'c' WHERE id = 'b'")
    assert found.size() > before, "a row that is written over changes it as well"


def test_a_topic_is_read_by_the_isolation_level_that_is_named(
    staging: Staged, topic: Callable[..., str]
) -> None:
    name = topic()
    producer = Producer(
        {
            "bootstrap.servers": staging.stage.bootstrap(AUDITOR),
            "transactional.id": name,
        }
    )
    producer.init_transactions(60)
    for id_, end in (("a", producer.abort_transaction), ("b", producer.commit_transaction)):
        producer.begin_transaction()
        producer.produce(name, value=json.dumps({"id": id_}))
        assert producer.flush(60) == 0
        end(60)

    def seen(by: str) -> list[str | None]:
        with reader(staging) as logs:
            where = Where(database="", reader=logs, work=staging.folder)
            sink: OwnSink = Output.parse(f"{name}{by}", ID).open(where, Yield())
            # A broker answers an EndTxn once it has decided: the markers come after the answer.
            eventually(lambda: not sink.hanging(), "the markers of both transactions")
            return [effect.record for effect in sink.effects()]

    assert seen("") == ["b"]
    assert seen("@read_uncommitted") == ["a", "b"]


class TestHowFarItIs:
    @pytest.fixture
    def place(self, staging: Staged, topic: Callable[..., str]) -> tuple[str, str]:
        return topic(), topic()

    def look(self, staging: Staged, place: tuple[str, str], *, optional: bool = False) -> Look:
        source, out = place
        return Look(
            topic=source,
            groups=GroupCommits(
                source, bootstrap=staging.stage.bootstrap(AUDITOR), reader=lambda: reader(staging)
            ),
            reader=lambda: reader(staging),
            sink=lambda logs: Together(
                [
                    Output.parse(out, ID).open(
                        Where(database="", reader=logs, work=staging.folder),
                        Yield(optional=optional),
                    )
                ]
            ),
            sent={"a", "b", "c"},
            optional=optional,
        )

    def test_a_group_says_it(self, staging: Staged, place: tuple[str, str]) -> None:
        look = self.look(staging, place)
        source, _ = place
        sent(staging, source, "a", "b")
        assert (look.done(), look.positions()) == ((0, 2), None)
        group = Consumer(
            {
                "bootstrap.servers": staging.stage.bootstrap(AUDITOR),
                "group.id": f"group-of-{source}",
            }
        )
        group.commit(offsets=[TopicPartition(source, 0, 1)], asynchronous=False)
        group.close()
        assert eventually(look.positions, "the group's position") == {(source, 0): 1}
        assert eventually(look.groups.look, "the group's commit") == 1
        seen = now()
        (row,) = look.groups.rows()
        assert (row["owner"], row["role"]) == (f"group-of-{source}", "advisory")
        assert (row["topic"], row["partition"], row["offset"]) == (source, 0, 1)
        assert row["at"] < seen, "it was seen before it was asked for"

    def test_the_last_input_with_an_effect_says_it_once_all_is_still(
        self, staging: Staged, place: tuple[str, str]
    ) -> None:
        look, source, out = self.look(staging, place), *place
        sent(staging, source, "a", "b")
        sent(staging, out, "b")
        assert look.positions() is None, f"it has not yet stood still for {QUIET:g} s"
        assert eventually(look.positions, "its end") == {(source, 0): 2}
        assert look.done() == (1, 2)
        sent(staging, source, "c")
        sent(staging, out, "b")
        # It is not at the end any more, and what was seen before stays.
        assert look.positions() == {(source, 0): 2}
        assert not look.still()

    def test_without_an_effect_of_the_last_it_is_not_at_the_end(
        self, staging: Staged, place: tuple[str, str]
    ) -> None:
        strict, loose = (self.look(staging, place, optional=each) for each in (False, True))
        source, out = place
        sent(staging, source, "a", "b")
        sent(staging, out, "a")
        assert eventually(loose.positions, "its end") == {(source, 0): 2}
        eventually(strict.still, "it to stand still")
        assert strict.positions() is None

    def test_what_names_no_input_is_told(self, staging: Staged, place: tuple[str, str]) -> None:
        look, _, out = self.look(staging, place), *place
        sent(staging, out, "a", "x")
        assert look.arrived() == (1, 1, f"{out}-0@1 names x")
