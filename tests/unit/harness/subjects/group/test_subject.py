"""Consumer groups as plain data: what each client can be asked for, and how its members are set."""

from __future__ import annotations

import inspect
from types import SimpleNamespace
from typing import Any, get_args

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from kafka import KafkaConsumer, KafkaProducer

from onceproof.harness.history.identity import RECORD_HEADER
from onceproof.harness.subjects.group.clients import AIOKAFKA, IN_PYTHON, KAFKA_PYTHON, Client
from onceproof.harness.subjects.group.life import Over, identity, live
from onceproof.harness.subjects.group.subject import ConsumerGroup
from onceproof.harness.subjects.group.task import MemberTask


def test_every_client_has_a_name_and_settings_of_its_own() -> None:
    groups = [ConsumerGroup(client=client) for client in get_args(Client)]
    assert [group.name for group in groups] == [
        "consume-transform-produce",
        "consume-transform-produce-java",
        "consume-transform-produce-aiokafka",
        "consume-transform-produce-kafka-python",
    ]
    for group in groups:
        assert f"Members use {group.client}." in group.says
        told = group.configuration()
        assert ("member's producer" in told) is (group.client in IN_PYTHON)


@pytest.mark.parametrize("client", ["java", "aiokafka", "kafka-python"])
def test_only_librdkafka_commits_otherwise_and_calls(client: Any) -> None:
    with pytest.raises(ValueError, match="use client='librdkafka'"):
        ConsumerGroup(client=client, commits="before")
    with pytest.raises(ValueError, match="use client='librdkafka'"):
        ConsumerGroup(client=client, calls=True)


def test_what_a_client_never_had_cannot_be_left_out() -> None:
    with pytest.raises(ValueError, match="support without='group-metadata': expected outcomes"):
        ConsumerGroup(client="aiokafka", without="group-metadata")
    with pytest.raises(ValueError, match="without='outcomes': expected group-metadata or rewind"):
        ConsumerGroup(client="java", without="outcomes")


def test_settings_are_words_of_their_client() -> None:
    for program, settings in (
        (AIOKafkaConsumer, AIOKAFKA.consumer),
        (AIOKafkaProducer, AIOKAFKA.producer),
    ):
        assert settings.keys() <= inspect.signature(program).parameters.keys()
    assert KAFKA_PYTHON.consumer.keys() <= KafkaConsumer.DEFAULT_CONFIG.keys()
    assert KAFKA_PYTHON.producer.keys() <= KafkaProducer.DEFAULT_CONFIG.keys()


def test_every_client_reads_what_is_committed_and_commits_nothing_by_itself() -> None:
    assert IN_PYTHON["librdkafka"].consumer["isolation.level"] == "read_committed"
    for client in (AIOKAFKA, KAFKA_PYTHON):
        assert client.consumer["isolation_level"] == "read_committed"
        assert client.consumer["enable_auto_commit"] is False


def test_an_effect_has_the_identity_of_its_payment_and_no_other_header() -> None:
    headers = [("other", b"x"), (RECORD_HEADER, b"r-1")]
    assert identity(headers) == identity(dict(headers)) == [(RECORD_HEADER, b"r-1")]


def test_a_life_ends_with_what_is_known_to_end_it(tmp_path, monkeypatch) -> None:
    task = MemberTask(
        name="member-0", bootstrap="b", group="g", topic="t", sink="s", commits="in-transaction"
    )
    task.save(tmp_path / "task.json")
    monkeypatch.setattr("sys.argv", ["member", str(tmp_path / "task.json")])
    seen = SimpleNamespace(task=None)

    def run(error: Exception) -> None:
        def go(task: MemberTask) -> None:
            seen.task = task
            raise error

        live(MemberTask, go, KeyError)

    for error in (Over("it is fenced"), KeyError("gone")):
        with pytest.raises(SystemExit, match=r"over: .*(fenced|gone)"):
            run(error)
    assert seen.task == task
    with pytest.raises(IndexError):
        run(IndexError("a mistake of ours has its trace"))
