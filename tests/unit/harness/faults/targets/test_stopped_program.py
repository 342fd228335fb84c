"""SIGTERM to a program with inputs in hand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import onceproof.harness.faults.targets.stopped_program as module
from onceproof.harness.faults.base import NoEffect
from onceproof.harness.faults.targets.stopped_program import StoppedWithInputs
from onceproof.harness.processes.processes import Process
from onceproof.harness.processes.trouble import StageTrouble
from tests.unit.fakes.pipelines import FakeProgram, FakeSupervisor
from tests.unit.fakes.process import FakeProcess
from tests.unit.fakes.run_context import FakeContext

MANY = 90


class Outputs:
    """Outputs that grow with every look; the program usually pauses for two seconds."""

    pause = 2.0
    changes = 1

    def __init__(self) -> None:
        self.looks = 0

    def size(self) -> int:
        self.looks += 1
        return self.looks


class Stopped(FakeProgram):
    """A program that ends on SIGTERM."""

    def stop(self, how: str) -> Process:
        process = FakeProcess("pipeline#1", status=0)
        process.how = how
        return process


class FakeInputsInHand:
    """Inputs in hand and quiet time, one pair for each call; the last one repeats."""

    def __init__(self, *answers: tuple[int | None, float]) -> None:
        self.answers = list(answers)
        self.removed = False
        self.quiet_for = 0.0

    def count(self) -> int | None:
        count, self.quiet_for = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return count

    def remove(self) -> None:
        self.removed = True


@pytest.mark.parametrize(
    ("answers", "proof"),
    [
        # Waits for the phase of the usual pause with inputs in hand.
        ([(0, 0.1), (7, 0.2), (7, 1.7)], "it had read 7 offsets of its input since it last wrote"),
        # Keeps few inputs, and only briefly.
        ([(3, 0.1), (0, 0.0)], "it writes as it reads"),
        # Keeps them briefly, but many of a backlog.
        (
            [(0, 0.0)] * 800 + [(MANY, 0.0), (0, 0.0), (MANY, 0.0)],
            f"it had read {MANY} offsets of its input since it last wrote",
        ),
        ([(None, 0.0)], "its fetches could not be observed"),
    ],
)
def test_evidence_names_the_inputs_in_hand(
    monkeypatch: pytest.MonkeyPatch, answers: Sequence[tuple[int | None, float]], proof: str
) -> None:
    evidence = stop(monkeypatch, FakeInputsInHand(*answers)).evidence()
    assert evidence is not None
    assert "SIGTERM by fault «a stop»" in evidence
    assert evidence.endswith(proof)


def test_no_effect_if_a_pausing_program_has_nothing_in_hand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stopped = stop(monkeypatch, FakeInputsInHand((3, 0.6), (0, 0.0)))
    with pytest.raises(NoEffect, match="it had read nothing since it last wrote"):
        stopped.evidence()


def test_suspended_program_goes_on_if_it_cannot_be_stopped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    in_hand = FakeInputsInHand(*[(0, 0.0)] * 800, (MANY, 0.0))
    monkeypatch.setattr(module, "InputsInHand", lambda context: in_hand)
    process, seen = FakeProcess("pipeline#1"), []

    class Stays(FakeProgram):
        def stop(self, how: str) -> Process:
            seen.append(process.still)
            raise StageTrouble("it does not end")

    pipeline = Stays(Outputs(), FakeSupervisor(process))
    with pytest.raises(StageTrouble, match="it does not end"):
        StoppedWithInputs(FakeContext(pipeline=pipeline), "a stop", 0.8)
    assert seen == [True], "it was suspended"
    assert not process.still
    assert in_hand.removed


def stop(monkeypatch: pytest.MonkeyPatch, inputs_in_hand: FakeInputsInHand) -> StoppedWithInputs:
    monkeypatch.setattr(module, "InputsInHand", lambda context: inputs_in_hand)
    process = FakeProcess("pipeline#1")
    pipeline = Stopped(Outputs(), FakeSupervisor(process))
    stopped = StoppedWithInputs(FakeContext(pipeline=pipeline), "a stop", 0.8)
    assert inputs_in_hand.removed
    has_many = inputs_in_hand.answers[-1][0] == MANY
    assert process.still is has_many, "stop resumes the real one"
    return stopped
