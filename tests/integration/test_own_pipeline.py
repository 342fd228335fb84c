"""User pipelines observed from outside: their tables, topics and progress."""

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
from onceproof.harness.user_pipeline.effects import ExpectedEffects
from onceproof.harness.user_pipeline.group_commits import GroupCommits
from onceproof.harness.user_pipeline.identity import Rule
from onceproof.harness.user_pipeline.look import Look
from onceproof.harness.user_pipeline.outputs.kind import OutputAccess
from onceproof.harness.user_pipeline.outputs.output import Output, OwnSink
from onceproof.harness.user_pipeline.outputs.table import Table
from onceproof.harness.user_pipeline.together import CombinedOutputs
from tests.integration.staging import Staged, eventually

pytestmark = pytest.mark.integration
ID = Rule.parse("json:$.id")


def reader(staging: Staged):
    stage = staging.stage
    addresses = {node_id(name): stage.bootstrap(AUDITOR, name) for name in stage.brokers}
    return open_reader(stage, ClusterView(addresses))


def send_ids(staging: Staged, topic: str, *ids: str, **settings: str) -> None:
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


def test_table_sees_only_committed_rows(staging: Staged, table: str) -> None:
    database = staging.stage.database(AUDITOR)
    output = Table(database, table)
    assert (output.size(), list(output.found()), output.hanging()) == (0, [], False)
    with psycopg.connect(database) as writer:
        writer.execute(f"CREATE TABLE {table} (id text, at timestamptz DEFAULT now())")
        writer.commit()
        writer.execute(f"INSERT INTO {table} VALUES ('a'), ('b'), ('a')")
        assert (output.size(), output.hanging()) == (0, True)
        writer.commit()
        before = output.size()
        assert (before > 0, output.hanging()) == (True, False)
    places = {each.position for each in output.found()}
    assert [ID.find(each.written) for each in output.found()] == ["a", "b", "a"]
    assert len(places) == 3
    with psycopg.connect(database) as writer:
        writer.execute(f"UPDATE {table} SET id = 'c' WHERE id = 'b'")
    assert output.size() > before, "a row that is written over changes it as well"


def test_topic_output_respects_isolation_level(staging: Staged, topic: Callable[..., str]) -> None:
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

    def records_of(isolation: str) -> list[str | None]:
        with reader(staging) as logs:
            where = OutputAccess(database="", reader=logs, work=staging.folder)
            sink: OwnSink = Output.parse(f"{name}{isolation}", ID).open(where, ExpectedEffects())
            # A broker answers EndTxn before it writes the markers.
            eventually(lambda: not sink.hanging(), "the markers of both transactions")
            return [effect.record for effect in sink.effects()]

    assert records_of("") == ["b"]
    assert records_of("@read_uncommitted") == ["a", "b"]


class TestProgress:
    @pytest.fixture
    def place(self, staging: Staged, topic: Callable[..., str]) -> tuple[str, str]:
        return topic(), topic()

    def look(self, staging: Staged, place: tuple[str, str], **more: Any) -> Look:
        """A look with inputs a, b and c, of which c is the sentinel."""
        source, out = place
        return Look(
            topics=(source,),
            groups=GroupCommits(
                (source,),
                addresses=addresses(staging.stage).values(),
                reader=lambda: reader(staging),
            ),
            reader=lambda: reader(staging),
            sink=lambda logs: CombinedOutputs(
                [
                    Output.parse(out, ID).open(
                        OutputAccess(database="", reader=logs, work=staging.folder),
                        ExpectedEffects(),
                    )
                ]
            ),
            sent={"a", "b", "c"},
            **{"required": {"a", "b", "c"}, "sentinels": {"c"}, "rest": 0.5, **more},
        )

    def test_progress_follows_outputs_not_group_commits(
        self, staging: Staged, place: tuple[str, str]
    ) -> None:
        look = self.look(staging, place)
        source, out = place
        send_ids(staging, source, "a", "b")
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
        send_ids(staging, out, "a", "b")
        assert (look.done(), look.positions()) == ((2, 2), {(source, 0): 2})

    def test_missing_outputs_count_as_lost_after_sentinel_and_rest(
        self, staging: Staged, place: tuple[str, str]
    ) -> None:
        look, source, out = self.look(staging, place), *place
        send_ids(staging, source, "a", "b")
        send_ids(staging, out, "b")
        eventually(look.still, "it to stand still")
        assert look.positions() == {(source, 0): 0}, "it may hold back"
        send_ids(staging, source, "c")
        eventually(look.still, "it to stand still")
        assert look.positions() == {(source, 0): 0}, "it holds back the sentinel as well"
        send_ids(staging, out, "c")
        assert look.positions() == {(source, 0): 0}, "it has just written"
        assert eventually(lambda: look.positions() == {(source, 0): 3}, "its end")
        assert look.done() == (2, 3)
        assert look.waits()

    def test_waits_only_for_required_inputs(self, staging: Staged, place: tuple[str, str]) -> None:
        look = self.look(staging, place, required={"a"}, sentinels=set())
        source, out = place
        send_ids(staging, source, "a", "b")
        assert look.waits()
        send_ids(staging, out, "a")
        assert (look.positions(), look.waits()) == ({(source, 0): 2}, False)

    def test_reports_output_of_unknown_input(self, staging: Staged, place: tuple[str, str]) -> None:
        look, _, out = self.look(staging, place), *place
        send_ids(staging, out, "a", "x")
        assert look.arrived() == (1, 1, f"{out}-0@1 has the identity x")
