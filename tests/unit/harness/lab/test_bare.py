"""A bare lab: topics, and nothing to judge."""

from __future__ import annotations

import pytest

from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.targets.brokers import Node
from onceproof.harness.faults.targets.spark_driver import SparkDriver
from onceproof.harness.kafka.topic import BadTopic, Topic
from onceproof.harness.lab.bare import bare
from onceproof.harness.schedule.supported_faults import is_supported
from onceproof.harness.subjects.spark.subject import DRIVER
from onceproof.harness.workload.payments import payments_of
from onceproof.scenarios import flagship


@pytest.mark.parametrize(
    ("word", "name", "partitions"),
    [("orders", "orders", 1), ("orders:3", "orders", 3), ("a.b_c-D:1000", "a.b_c-D", 1000)],
)
def test_parses_topic(word: str, name: str, partitions: int) -> None:
    assert Topic.parse(word) == Topic(name=name, partitions=partitions)


@pytest.mark.parametrize(
    "word",
    ["", ":3", "orders:", "orders:0", "orders:-1", "orders:x", "orders:3:3", "orders:1001", "o s",
     "..", "a" * 250, "orders:²"],
)  # fmt: skip
def test_rejects_invalid_topic(word: str) -> None:
    with pytest.raises(BadTopic, match=r"invalid topic .*: expected NAME or NAME:PARTITIONS"):
        Topic.parse(word)


def test_bare_scenario_has_topics_but_nothing_to_judge() -> None:
    topics = (Topic(name="orders", partitions=3), Topic(name="shipped", partitions=1))
    scenario = bare(topics)
    workload_topic, other = scenario.all_topics
    assert (workload_topic.name, workload_topic.partitions, other) == ("orders", 3, topics[1])
    assert scenario.claims == scenario.schedule == ()
    assert list(payments_of(scenario.workload, producer=0, seed=1)) == []


def test_scenario_topics_are_those_of_workload_and_subject() -> None:
    assert [[topic.name for topic in scenario.all_topics] for scenario in flagship()] == [
        ["payments"],
        ["payments"],
        ["payments", "payments-with-fees"],
    ]


def test_only_driver_faults_require_a_driver() -> None:
    stage = frozenset({"kill", "cut", "links"})
    kill = Kill(Node(name="broker-1"))
    assert is_supported(kill, stage)
    assert not is_supported(kill, {DRIVER})
    assert not is_supported(Kill(SparkDriver(), at="after-sink-write"), stage)
    assert is_supported(Kill(SparkDriver(), at="after-sink-write"), {DRIVER})
