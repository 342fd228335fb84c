"""Targets by role: who has each role, by other signs than the answer that names it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from onceproof.harness.faults.roles import NODES, role
from onceproof.harness.faults.targets.brokers import LeaderOf
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.wait import Overdue
from tests.integration.faults import context
from tests.integration.staging import Staged, eventually, told_by

pytestmark = pytest.mark.integration


def resolved(staging: Staged, word: str) -> str:
    return role(word, NODES).resolve(context(staging.stage))


def leader(staging: Staged, topic: str, partition: int) -> str:
    return f"broker-{told_by(staging.stage, 'broker-1', topic)[partition].leader}"


def partition_of(name: str, partitions: int) -> int:
    """Where Kafka keeps what belongs to a name: Java's hash of it, without its sign."""
    number = 0
    for character in name:
        number = (31 * number + ord(character)) & 0xFFFFFFFF
    return min(number, (1 << 32) - number) % partitions


def kept(staging: Staged, word: str) -> tuple[str, int]:
    """The partition whose leader a coordinator is; it is there once one was found."""
    assert resolved(staging, word)
    _, kind, name = word.split(":")
    topic = {"group": "__consumer_offsets", "txn": "__transaction_state"}[kind]
    told = eventually(
        lambda: told_by(staging.stage, "broker-1", topic), f"broker-1 to know {topic}"
    )
    return topic, partition_of(name, len(told))


@pytest.mark.parametrize(
    ("kind", "topic"), [("group", "__consumer_offsets"), ("txn", "__transaction_state")]
)
def test_coordinators_lead_what_they_keep_in_the_log(
    staging: Staged, kind: str, topic: str
) -> None:
    names = [f"name-{n}" for n in range(6)]
    found = [resolved(staging, f"coordinator:{kind}:{name}") for name in names]
    assert kept(staging, f"coordinator:{kind}:name-0")[0] == topic
    partitions = len(told_by(staging.stage, "broker-1", topic))
    assert partitions > 1
    assert found == [leader(staging, topic, partition_of(name, partitions)) for name in names]
    assert len(set(found)) > 1


def test_leader_and_follower(staging: Staged, topic: Callable[..., str]) -> None:
    name = topic(2)
    for partition in (0, 1):
        leading = leader(staging, name, partition)
        assert resolved(staging, f"leader:{name}-{partition}") == leading
        following = resolved(staging, f"follower:{name}-{partition}")
        assert following in set(staging.stage.brokers) - {leading}


def test_a_leader_is_placed_apart_from_another_role(
    staging: Staged, topic: Callable[..., str]
) -> None:
    name = topic(1)
    for other in staging.stage.brokers:
        found = resolved(staging, f"leader:{name}-0/not/{other}")
        assert found != other
        eventually(
            lambda found=found: all(
                told_by(staging.stage, node, name)[0].leader == int(found[-1])
                for node in staging.stage.brokers
            ),
            f"every broker to say that {found} leads",
        )
        told = told_by(staging.stage, other, name)[0]
        assert told.replicas == {1, 2, 3}
        assert told.whole


@pytest.mark.parametrize("kind", ["group", "txn"])
def test_a_coordinator_is_placed_apart_from_another_role(staging: Staged, kind: str) -> None:
    word = f"coordinator:{kind}:apart"
    topic, number = kept(staging, word)
    for other in staging.stage.brokers:
        found = resolved(staging, f"{word}/not/{other}")
        assert found != other
        assert found == resolved(staging, word)

        def leads(node: str = found) -> bool:
            return leader(staging, topic, number) == node

        eventually(leads, f"{found} to lead its log")
    both = resolved(staging, word), resolved(staging, f"coordinator:group:second/not/{word}")
    assert both[0] != both[1]


def test_what_one_partition_keeps_cannot_be_placed_apart(staging: Staged) -> None:
    with pytest.raises(StageTrouble, match=r"because __consumer_offsets-\d+ determines both"):
        resolved(staging, "coordinator:group:same/not/coordinator:group:same")


def test_every_broker_names_the_same_active_controller(staging: Staged) -> None:
    controller = resolved(staging, "controller")
    assert {view.controller() for view in context(staging.stage).views().values()} == {
        int(controller[-1])
    }


def test_a_partition_that_there_is_not(staging: Staged) -> None:
    with pytest.raises(Overdue, match="nobody-7 to have a leader"):
        LeaderOf(topic="nobody", partition=7).resolve(context(staging.stage))
