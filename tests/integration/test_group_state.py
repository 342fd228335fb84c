"""Members of a consumer group, with both group protocols."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer

from onceproof.harness.faults.cluster.coordinated import group_of
from onceproof.harness.faults.group_members import GroupMembers
from onceproof.harness.kafka.groups import GroupState
from onceproof.harness.links.topology import AUDITOR
from tests.integration.faults import context
from tests.integration.staging import Staged, eventually

pytestmark = pytest.mark.integration


@contextlib.contextmanager
def joining(staging: Staged, topic: str, protocol: str) -> Iterator[Callable[[], Any]]:
    """Two members of `group-of-TOPIC`; gives a function that polls, and returns their ids."""
    members = GroupMembers(context(staging.stage, topic), f"group-of-{topic}")
    with contextlib.ExitStack() as closing:
        consumers = [
            Consumer(
                {
                    "log_level": 0,
                    "bootstrap.servers": staging.stage.bootstrap(AUDITOR),
                    "group.id": f"group-of-{topic}",
                    "client.id": f"client-{n}",
                    "group.protocol": protocol,
                }
            )
            for n in range(2)
        ]
        for consumer in consumers:
            closing.callback(consumer.close)
            consumer.subscribe([topic])

        def ids() -> Any:
            for consumer in consumers:
                consumer.poll(0.1)
            return members.ids()

        eventually(lambda: len(ids()) == 2, "both to be members", lambda: members.last_answer)
        yield ids


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_describes_members_of_both_protocols(
    staging: Staged, topic: Callable[..., str], protocol: str
) -> None:
    name = topic(2)
    group = f"group-of-{name}"
    around = context(staging.stage, name)
    members = GroupMembers(around, group)

    with joining(staging, name, protocol) as ids:
        with group_of(around, group) as known:

            def stable() -> GroupState | None:
                ids()
                found = known.describe()
                return found if found.state == "Stable" else None

            assert eventually(stable, "it to be stable").members == ("client-0", "client-1")
        found = members.describe()
        assert found is not None
        assert found.state.name == "STABLE"
        assert sorted(m.client_id for m in found.members) == ["client-0", "client-1"]

    def gone() -> bool:
        found = members.describe()
        return found is not None and not found.members

    eventually(gone, "both to have left", lambda: members.last_answer)


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_removed_members_join_again(
    staging: Staged, topic: Callable[..., str], protocol: str
) -> None:
    name = topic(2)
    with joining(staging, name, protocol) as ids:
        before = set(ids())
        with group_of(context(staging.stage, name), f"group-of-{name}") as known:
            known.remove_members(but="client-0")
        # With the consumer protocol a member keeps its id, so it is missing for a while.
        eventually(lambda: set(ids()) != before, "one to be removed")
        eventually(lambda: len(ids()) == 2, "it to be back")


def test_missing_group_is_dead_without_members(staging: Staged, topic: Callable[..., str]) -> None:
    with group_of(context(staging.stage, topic(1)), "nobody-joined") as known:
        state = known.describe()
    assert (state.state, state.members) == ("Dead", ())
