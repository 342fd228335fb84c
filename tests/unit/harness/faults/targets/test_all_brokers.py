"""All brokers at once: what happens when one of them does not do as it is asked."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from onceproof.harness.faults.by_hand import asked
from onceproof.harness.processes.trouble import StageTrouble
from tests.unit.fakes.run_context import FakeContext
from tests.unit.fakes.stage import FakeStage


@dataclass(kw_only=True)
class Stubborn(FakeStage):
    """A stage whose third broker does not end when it is asked to, and is killed if it can be."""

    can_be_killed: bool = True

    def shut_down(self, node: str, how: str) -> str:
        if node != "broker-3":
            return super().shut_down(node, how)
        if self.can_be_killed:
            self.dead.add(node)
        raise StageTrouble(f"{node}#1 did not end when asked to: had to be killed after 30 s")


def test_one_that_had_to_be_killed_has_ended_too() -> None:
    stage = Stubborn()
    context = FakeContext(stage=stage)
    injection = asked("stop", ["brokers"]).inject(context, "stop-1")
    assert stage.dead == set(stage.brokers)
    stage.said = {}
    proof = injection.evidence()
    assert proof is not None
    assert "broker-1#1 ended with status 143" in proof
    assert "broker-3#1 did not end when asked to: had to be killed" in proof


def test_the_others_are_restarted_when_one_cannot_be_ended() -> None:
    stage = Stubborn(can_be_killed=False)
    with pytest.raises(StageTrouble, match="broker-3#1 did not end"):
        asked("stop", ["brokers"]).inject(FakeContext(stage=stage), "stop-1")
    assert stage.dead == set()
    assert stage.story.count("restart") == 2
