"""A bare lab as plain data: its topics, and nothing that could be judged."""

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
def test_a_topic_as_it_is_written(word: str, name: str, partitions: int) -> None:
    assert Topic.parse(word) == Topic(name=name, partitions=partitions)


@pytest.mark.parametrize(
    "word",
    ["", ":3", "orders:", "orders:0", "orders:-1", "orders:x", "orders:3:3", "orders:1001", "o s",
     "..", "a" * 250, "orders:²"],
)  # fmt: skip
def test_a_word_that_is_no_topic(word: str) -> None:
    with pytest.raises(BadTopic, match=r"invalid topic .*: expected NAME or NAME:PARTITIONS"):
        Topic.parse(word)


def test_it_has_its_topics_and_nothing_to_judge() -> None:
    topics = (Topic(name="orders", partitions=3), Topic(name="shipped", partitions=1))
    scenario = bare(topics)
    of_the_workload, other = scenario.all_topics
    assert (of_the_workload.name, of_the_workload.partitions, other) == ("orders", 3, topics[1])
    assert scenario.claims == scenario.schedule == ()
    assert list(payments_of(scenario.workload, producer=0, seed=1)) == []


def test_the_topics_of_a_scenario_are_those_of_workload_and_subject() -> None:
    assert [[topic.name for topic in scenario.all_topics] for scenario in flagship()] == [
        ["payments"],
        ["payments"],
        ["payments", "payments-with-fees"],
    ]


def test_only_what_acts_on_a_driver_needs_one() -> None:
    stage = frozenset({"kill", "cut", "links"})
    kill = Kill(Node(name="broker-1"))
    assert is_supported(kill, stage)
    assert not is_supported(kill, {DRIVER})
    assert not is_supported(Kill(SparkDriver(), at="after-sink-write"), stage)
    assert is_supported(Kill(SparkDriver(), at="after-sink-write"), {DRIVER})
