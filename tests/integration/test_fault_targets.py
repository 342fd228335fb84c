"""Resolution of targets by role, checked against metadata and logs."""

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


def resolve(staging: Staged, word: str) -> str:
    return role(word, NODES).resolve(context(staging.stage))


def leader(staging: Staged, topic: str, partition: int) -> str:
    return f"broker-{told_by(staging.stage, 'broker-1', topic)[partition].leader}"


def partition_of(name: str, partitions: int) -> int:
    """The log partition of a group or transactional id: Java's string hash without its sign."""
    number = 0
    for character in name:
        number = (31 * number + ord(character)) & 0xFFFFFFFF
    return min(number, (1 << 32) - number) % partitions


def keeping_partition(staging: Staged, word: str) -> tuple[str, int]:
    """Topic and partition whose leader is the coordinator; resolving it creates the topic."""
    assert resolve(staging, word)
    _, kind, name = word.split(":")
    topic = {"group": "__consumer_offsets", "txn": "__transaction_state"}[kind]
    partitions = eventually(
        lambda: told_by(staging.stage, "broker-1", topic), f"broker-1 to know {topic}"
    )
    return topic, partition_of(name, len(partitions))


@pytest.mark.parametrize(
    ("kind", "topic"), [("group", "__consumer_offsets"), ("txn", "__transaction_state")]
)
def test_coordinator_leads_its_log_partition(staging: Staged, kind: str, topic: str) -> None:
    assert keeping_partition(staging, f"coordinator:{kind}:name-0")[0] == topic
    partitions = len(told_by(staging.stage, "broker-1", topic))
    assert partitions > 1

    def leading(name: str) -> str | None:
        """Return the coordinator if it leads: after an earlier test, leaders may still move."""
        found = resolve(staging, f"coordinator:{kind}:{name}")
        return found if found == leader(staging, topic, partition_of(name, partitions)) else None

    found = {
        eventually(lambda name=name: leading(name), f"the coordinator of {name} to lead")
        for name in (f"name-{n}" for n in range(6))
    }
    assert len(found) > 1


def test_resolves_leader_and_follower(staging: Staged, topic: Callable[..., str]) -> None:
    name = topic(2)
    for partition in (0, 1):
        leading = leader(staging, name, partition)
        assert resolve(staging, f"leader:{name}-{partition}") == leading
        following = resolve(staging, f"follower:{name}-{partition}")
        assert following in set(staging.stage.brokers) - {leading}


def test_leader_with_not_moves_to_another_broker(
    staging: Staged, topic: Callable[..., str]
) -> None:
    name = topic(1)
    for other in staging.stage.brokers:
        found = resolve(staging, f"leader:{name}-0/not/{other}")
        assert found != other
        eventually(
            lambda found=found: all(
                told_by(staging.stage, node, name)[0].leader == int(found[-1])
                for node in staging.stage.brokers
            ),
            f"every broker to say that {found} leads",
        )
        state = told_by(staging.stage, other, name)[0]
        assert state.replicas == {1, 2, 3}
        assert state.whole


@pytest.mark.parametrize("kind", ["group", "txn"])
def test_coordinator_with_not_moves_to_another_broker(staging: Staged, kind: str) -> None:
    word = f"coordinator:{kind}:apart"
    topic, number = keeping_partition(staging, word)
    for other in staging.stage.brokers:
        found = resolve(staging, f"{word}/not/{other}")
        assert found != other
        assert found == resolve(staging, word)

        def leads(node: str = found) -> bool:
            return leader(staging, topic, number) == node

        eventually(leads, f"{found} to lead its log")
    both = resolve(staging, word), resolve(staging, f"coordinator:group:second/not/{word}")
    assert both[0] != both[1]


def test_rejects_not_for_roles_of_the_same_log_partition(staging: Staged) -> None:
    with pytest.raises(StageTrouble, match=r"because __consumer_offsets-\d+ determines both"):
        resolve(staging, "coordinator:group:same/not/coordinator:group:same")


def test_brokers_agree_on_the_controller(staging: Staged) -> None:
    controller = resolve(staging, "controller")
    assert {view.controller() for view in context(staging.stage).views().values()} == {
        int(controller[-1])
    }


def test_missing_partition_has_no_leader(staging: Staged) -> None:
    with pytest.raises(Overdue, match="nobody-7 to have a leader"):
        LeaderOf(topic="nobody", partition=7).resolve(context(staging.stage))
