"""A broker is killed while a program starts: what it asks first, nobody answers."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

import pytest

from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.messages.message import AtGates, Message
from onceproof.harness.faults.targets.brokers import PROGRAM_START, CoordinatorOf, LeaderOf, Target
from tests.integration.programs import Own, running
from tests.integration.staging import Staged, eventually

pytestmark = pytest.mark.integration
ANSWER = Message(source="pipeline", direction="response", api="Metadata")


def coordinator(own: Own) -> Target:
    return CoordinatorOf(of="group", name=own.group)


def leader(own: Own) -> Target:
    return LeaderOf(partition=1)


@pytest.mark.parametrize("target", [coordinator, leader])
def test_a_broker_is_lost_while_it_starts(
    staging: Staged, topic: Callable[..., str], target: Callable[[Own], Target]
) -> None:
    with running(staging, topic, "copy") as own:
        fault = Kill(target(own), at=PROGRAM_START)
        before = own.program.supervisor.running()
        answers = AtGates(own.context, "pipeline", ANSWER.rule("report", times=None))
        with ExitStack() as closing, own.flowing():
            closing.callback(answers.remove)
            with own.struck(fault) as (injection, proof):
                assert injection.target.startswith("broker-")
                broker = injection.target.split()[0]
                assert not staging.stage.alive(broker)
                assert before.ended_at is not None
                told = [int(event["at"]) for event in answers.fired()]
                assert not [at for at in told if before.ended_at < at < injection.at]
                assert any(at > injection.at for at in told), "answers would have been seen"
                assert "the pipeline waited for metadata: Metadata req" in proof
                assert "leadership moved after" in proof
            assert staging.stage.alive(broker)
        eventually(lambda: not own.missing(), "an effect of each", own.said)
