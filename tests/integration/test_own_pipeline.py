"""Pipelines of somebody's own, seen from outside: their tables, topics, and how far they are."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import addresses, open_reader
from onceproof.harness.history.identity import RECORD_HEADER
from onceproof.harness.kafka.metadata import ClusterView
from onceproof.harness.links.topology import AUDITOR, node_id
from onceproof.harness.user_pipeline.effects import Yield
from onceproof.harness.user_pipeline.group_commits import GroupCommits
from onceproof.harness.user_pipeline.identity import Rule
from onceproof.harness.user_pipeline.look import Look
from onceproof.harness.user_pipeline.outputs.kind import Where
from onceproof.harness.user_pipeline.outputs.output import Output, OwnSink
from onceproof.harness.user_pipeline.outputs.table import Table
from onceproof.harness.user_pipeline.together import Together
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

    def look(self, staging: Staged, place: tuple[str, str], **more: Any) -> Look:
        """Of inputs a, b and c, of which c is the sentinel."""
        source, out = place
        return Look(
            topics=(source,),
            groups=GroupCommits(
                (source,),
                addresses=addresses(staging.stage).values(),
                reader=lambda: reader(staging),
            ),
            reader=lambda: reader(staging),
            sink=lambda logs: Together(
                [
                    Output.parse(out, ID).open(
                        Where(database="", reader=logs, work=staging.folder), Yield()
                    )
                ]
            ),
            sent={"a", "b", "c"},
            **{"required": {"a", "b", "c"}, "sentinels": {"c"}, "rest": 0.5, **more},
        )

    def test_its_outputs_say_it_and_not_its_group(
        self, staging: Staged, place: tuple[str, str]
    ) -> None:
        look = self.look(staging, place)
        source, out = place
        sent(staging, source, "a", "b")
        group = Consumer(
            {
                "bootstrap.servers": staging.stage.bootstrap(AUDITOR),
                "group.id": f"group-of-{source}",
            }
        )
        group.commit(offsets=[TopicPartition(source, 0, 2)], asynchronous=False)
        group.close()
        assert eventually(look.groups.look, "the group's commit") == 1
        seen = now()
        (row,) = look.groups.rows()
        assert (row["owner"], row["role"]) == (f"group-of-{source}", "advisory")
        assert (row["topic"], row["partition"], row["offset"]) == (source, 0, 2)
        assert row["at"] < seen, "it was seen before it was asked for"
        assert (look.done(), look.positions()) == ((0, 2), {(source, 0): 0})
        sent(staging, out, "a", "b")
        assert (look.done(), look.positions()) == ((2, 2), {(source, 0): 2})

    def test_what_is_missing_is_lost_once_the_sentinel_came_out_and_all_is_still(
        self, staging: Staged, place: tuple[str, str]
    ) -> None:
        look, source, out = self.look(staging, place), *place
        sent(staging, source, "a", "b")
        sent(staging, out, "b")
        eventually(look.still, "it to stand still")
        assert look.positions() == {(source, 0): 0}, "it may hold back"
        sent(staging, source, "c")
        eventually(look.still, "it to stand still")
        assert look.positions() == {(source, 0): 0}, "it holds back the sentinel as well"
        sent(staging, out, "c")
        assert look.positions() == {(source, 0): 0}, "it has just written"
        assert eventually(lambda: look.positions() == {(source, 0): 3}, "its end")
        assert look.done() == (2, 3)
        assert look.waits()

    def test_only_what_must_have_an_effect_is_waited_for(
        self, staging: Staged, place: tuple[str, str]
    ) -> None:
        look = self.look(staging, place, required={"a"}, sentinels=set())
        source, out = place
        sent(staging, source, "a", "b")
        assert look.waits()
        sent(staging, out, "a")
        assert (look.positions(), look.waits()) == ({(source, 0): 2}, False)

    def test_what_names_no_input_is_told(self, staging: Staged, place: tuple[str, str]) -> None:
        look, _, out = self.look(staging, place), *place
        sent(staging, out, "a", "x")
        assert look.arrived() == (1, 1, f"{out}-0@1 has the identity x")
