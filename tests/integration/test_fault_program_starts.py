"""A broker is killed while a program starts: what it asks first, nobody answers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.faults.kill_broker_at_start import KillBrokerAtStart
from harness.faults.targets import CoordinatorOf, LeaderOf, Target
from tests.integration.programs import Own, running
from tests.integration.staging import Staged, eventually

pytestmark = pytest.mark.integration


def coordinator(own: Own) -> Target:
    return CoordinatorOf(of="group", name=own.group)


def leader(own: Own) -> Target:
    return LeaderOf(partition=1)


@pytest.mark.parametrize("target", [coordinator, leader])
def test_a_broker_is_lost_while_it_starts(
    staging: Staged, topic: Callable[..., str], target: Callable[[Own], Target]
) -> None:
    with running(staging, topic, "copy") as own:
        fault = KillBrokerAtStart(target=target(own))
        before = own.program.kept.running()
        with own.flowing():
            with own.struck(fault) as (injection, proof):
                assert injection.target.startswith("broker-")
                broker = injection.target.split()[0]
                assert not staging.stage.alive(broker)
                assert before.ended
                assert " had asked for metadata, and got none yet; broker-" in proof
                assert "leadership moved after" in proof
            assert staging.stage.alive(broker)
        eventually(lambda: not own.missing(), "an effect of each", own.said)
