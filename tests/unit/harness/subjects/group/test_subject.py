"""Consumer group subjects: clients, their settings and the variants they support."""

from __future__ import annotations

import inspect
from types import SimpleNamespace
from typing import Any, get_args

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from kafka import KafkaConsumer, KafkaProducer

from onceproof.harness.history.identity import RECORD_HEADER
from onceproof.harness.subjects.group.clients import AIOKAFKA, IN_PYTHON, KAFKA_PYTHON, Client
from onceproof.harness.subjects.group.life import LifeEnded, identity, live
from onceproof.harness.subjects.group.subject import ConsumerGroup
from onceproof.harness.subjects.group.task import MemberTask


def test_each_client_has_its_own_name_and_settings() -> None:
    groups = [ConsumerGroup(client=client) for client in get_args(Client)]
    assert [group.name for group in groups] == [
        "consume-transform-produce",
        "consume-transform-produce-java",
        "consume-transform-produce-aiokafka",
        "consume-transform-produce-kafka-python",
        "consume-transform-produce-franz-go",
        "consume-transform-produce-sarama",
        "consume-transform-produce-kafkajs",
        "consume-transform-produce-confluent-javascript",
    ]
    for group in groups:
        assert f"Members use {group.client}." in group.says
        configuration = group.configuration()
        assert ("member's producer" in configuration) is (group.client in IN_PYTHON)


@pytest.mark.parametrize("client", [each for each in get_args(Client) if each != "librdkafka"])
def test_other_clients_reject_options_of_librdkafka(client: Any) -> None:
    with pytest.raises(ValueError, match="use client='librdkafka'"):
        ConsumerGroup(client=client, commits="before")
    with pytest.raises(ValueError, match="use client='librdkafka'"):
        ConsumerGroup(client=client, calls=True)


@pytest.mark.parametrize("client", ["librdkafka", "java"])
def test_consumer_protocol_is_in_name_words_and_report(client: Any) -> None:
    group = ConsumerGroup(client=client, protocol="consumer", without="rewind")
    assert group.name.endswith("-consumer-protocol-no-rewind")
    assert f"Members use {client} and group.protocol=consumer (KIP-848)." in group.says
    assert group.configuration()["members"]["group.protocol"] == "consumer"


@pytest.mark.parametrize("client", ["aiokafka", "sarama"])
def test_rejects_consumer_protocol_where_it_is_not_supported(client: Any) -> None:
    with pytest.raises(ValueError, match="does not support protocol='consumer'"):
        ConsumerGroup(client=client, protocol="consumer")


def test_only_clients_elsewhere_need_plain_text() -> None:
    needing = {each for each in get_args(Client) if ConsumerGroup(client=each).plain_text}
    assert needing == {"franz-go", "sarama", "kafkajs", "confluent-javascript"}


def test_rejects_omissions_that_the_client_does_not_support() -> None:
    with pytest.raises(ValueError, match="support without='group-metadata': expected outcomes"):
        ConsumerGroup(client="aiokafka", without="group-metadata")
    with pytest.raises(ValueError, match="without='outcomes': expected group-metadata or rewind"):
        ConsumerGroup(client="java", without="outcomes")


def test_settings_are_known_to_their_client() -> None:
    for program, settings in (
        (AIOKafkaConsumer, AIOKAFKA.consumer),
        (AIOKafkaProducer, AIOKAFKA.producer),
    ):
        assert settings.keys() <= inspect.signature(program).parameters.keys()
    assert KAFKA_PYTHON.consumer.keys() <= KafkaConsumer.DEFAULT_CONFIG.keys()
    assert KAFKA_PYTHON.producer.keys() <= KafkaProducer.DEFAULT_CONFIG.keys()


def test_clients_read_committed_records_without_auto_commit() -> None:
    assert IN_PYTHON["librdkafka"].consumer["isolation.level"] == "read_committed"
    for client in (AIOKAFKA, KAFKA_PYTHON):
        assert client.consumer["isolation_level"] == "read_committed"
        assert client.consumer["enable_auto_commit"] is False


def test_effect_keeps_only_the_identity_header() -> None:
    headers = [("other", b"x"), (RECORD_HEADER, b"r-1")]
    assert identity(headers) == identity(dict(headers)) == [(RECORD_HEADER, b"r-1")]


def test_live_exits_only_on_known_errors(tmp_path, monkeypatch) -> None:
    task = MemberTask(
        name="member-0", bootstrap="b", group="g", topic="t", sink="s", commits="in-transaction"
    )
    task.save(tmp_path / "task.json")
    monkeypatch.setattr("sys.argv", ["member", str(tmp_path / "task.json")])
    seen = SimpleNamespace(task=None)

    def run(error: Exception) -> None:
        def fail(task: MemberTask) -> None:
            seen.task = task
            raise error

        live(MemberTask, fail, KeyError)

    for error in (LifeEnded("it is fenced"), KeyError("gone")):
        with pytest.raises(SystemExit, match=r"over: .*(fenced|gone)"):
            run(error)
    assert seen.task == task
    with pytest.raises(IndexError):
        run(IndexError("a mistake of ours has its trace"))
