"""Stopping all brokers when one of them does not stop."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from onceproof.harness.faults.by_hand import asked
from onceproof.harness.processes.trouble import StageTrouble
from tests.unit.fakes.run_context import FakeContext
from tests.unit.fakes.stage import FakeStage


@dataclass(kw_only=True)
class StubbornStage(FakeStage):
    """A stage whose third broker does not stop, and is killed if `can_be_killed`."""

    can_be_killed: bool = True

    def shut_down(self, node: str, how: str) -> str:
        if node != "broker-3":
            return super().shut_down(node, how)
        if self.can_be_killed:
            self.dead.add(node)
        raise StageTrouble(f"{node}#1 did not end when asked to: had to be killed after 30 s")


def test_killed_broker_counts_as_stopped() -> None:
    stage = StubbornStage()
    context = FakeContext(stage=stage)
    injection = asked("stop", ["brokers"]).inject(context, "stop-1")
    assert stage.dead == set(stage.brokers)
    stage.said = {}
    proof = injection.evidence()
    assert proof is not None
    assert "broker-1#1 ended with status 143" in proof
    assert "broker-3#1 did not end when asked to: had to be killed" in proof


def test_failed_stop_restarts_the_other_brokers() -> None:
    stage = StubbornStage(can_be_killed=False)
    with pytest.raises(StageTrouble, match="broker-3#1 did not end"):
        asked("stop", ["brokers"]).inject(FakeContext(stage=stage), "stop-1")
    assert stage.dead == set()
    assert stage.story.count("restart") == 2
