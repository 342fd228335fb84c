"""A broker is killed before it answers a starting program's first request."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

import pytest

from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.messages.message import AtGates, Message
from onceproof.harness.faults.targets.brokers import PROGRAM_START, CoordinatorOf, LeaderOf, Target
from tests.end_to_end.catalogue import LATER
from tests.integration.programs import RunningPipeline, running
from tests.integration.staging import Staged, eventually

pytestmark = pytest.mark.integration
ANSWER = Message(source="pipeline", direction="response", api="Metadata")


def coordinator(pipeline: RunningPipeline) -> Target:
    return CoordinatorOf(of="group", name=pipeline.group)


def leader(pipeline: RunningPipeline) -> Target:
    return LeaderOf(partition=1)


@LATER
@pytest.mark.parametrize("target", [coordinator, leader])
def test_broker_is_killed_before_program_gets_metadata(
    staging: Staged, topic: Callable[..., str], target: Callable[[RunningPipeline], Target]
) -> None:
    with running(staging, topic, "copy") as pipeline:
        fault = Kill(target(pipeline), at=PROGRAM_START)
        before = pipeline.program.supervisor.running()
        answers = AtGates(pipeline.context, "pipeline", ANSWER.rule("report", times=None))
        with ExitStack() as closing, pipeline.flowing():
            closing.callback(answers.remove)
            with pipeline.injected(fault) as (injection, proof):
                assert injection.target.startswith("broker-")
                broker = injection.target.split()[0]
                assert not staging.stage.alive(broker)
                assert before.ended_at is not None
                answered_at = [int(event["at"]) for event in answers.fired()]
                assert not [at for at in answered_at if before.ended_at < at < injection.at]
                assert any(at > injection.at for at in answered_at), "answers would have been seen"
                assert "the pipeline waited for metadata: Metadata req" in proof
                assert "leadership moved after" in proof
            assert staging.stage.alive(broker)
        eventually(lambda: not pipeline.missing(), "an effect of each", pipeline.stdout)
