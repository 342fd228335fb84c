"""Members of a consumer group, with both group protocols."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest
from confluent_kafka import Consumer

from onceproof.harness.faults.cluster.coordinated import group_of
from onceproof.harness.faults.group_members import GroupMembers
from onceproof.harness.links.topology import AUDITOR
from tests.integration.faults import context
from tests.integration.staging import Staged, eventually

pytestmark = pytest.mark.integration


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_describes_members_of_both_protocols(
    staging: Staged, topic: Callable[..., str], protocol: str
) -> None:
    name = topic(2)
    group = f"group-of-{name}"
    members = GroupMembers(context(staging.stage, name), group)

    with contextlib.ExitStack() as closing:
        consumers = [
            Consumer(
                {
                    "log_level": 0,
                    "bootstrap.servers": staging.stage.bootstrap(AUDITOR),
                    "group.id": group,
                    "client.id": f"client-{n}",
                    "group.protocol": protocol,
                }
            )
            for n in range(2)
        ]
        for consumer in consumers:
            closing.callback(consumer.close)
            consumer.subscribe([name])

        def joined() -> bool:
            for consumer in consumers:
                consumer.poll(0.1)
            return len(members.ids()) == 2

        eventually(joined, "both to be members", lambda: members.last_answer)
        found = members.describe()
        assert found is not None
        assert found.state.name == "STABLE"
        assert sorted(m.client_id for m in found.members) == ["client-0", "client-1"]

    def gone() -> bool:
        found = members.describe()
        return found is not None and not found.members

    eventually(gone, "both to have left", lambda: members.last_answer)


def test_missing_group_is_dead_without_members(staging: Staged, topic: Callable[..., str]) -> None:
    with group_of(context(staging.stage, topic(1)), "nobody-joined") as known:
        state = known.describe()
    assert (state.state, state.members) == ("Dead", ())
