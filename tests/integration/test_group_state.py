"""A group as its coordinator describes it, whatever protocol its members speak."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest
from confluent_kafka import Consumer

from onceproof.harness.faults.cluster.coordinated import group_of
from onceproof.harness.kafka.groups import GroupState
from onceproof.harness.links.topology import AUDITOR
from tests.integration.faults import context
from tests.integration.staging import Staged, eventually

pytestmark = pytest.mark.integration


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_its_members_are_known(staging: Staged, topic: Callable[..., str], protocol: str) -> None:
    name = topic(2)
    world, group = context(staging.stage, name), f"group-of-{name}"

    def described() -> GroupState:
        with group_of(world, group) as known:
            return known.describe()

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

        def joined() -> GroupState | None:
            for consumer in consumers:
                consumer.poll(0.1)
            state = described()
            return state if state.state == "Stable" and len(state.ids) == 2 else None

        assert eventually(joined, "both to be members", described).members == (
            "client-0",
            "client-1",
        )
    eventually(lambda: not described().members, "both to have left", described)


def test_a_group_that_does_not_exist_has_no_members(
    staging: Staged, topic: Callable[..., str]
) -> None:
    with group_of(context(staging.stage, topic(1)), "nobody-joined") as known:
        state = known.describe()
    assert (state.state, state.members) == ("Dead", ())
