"""SIGTERM to a program with inputs in hand, with counts that are made up."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import onceproof.harness.faults.targets.stopped_program as module
from onceproof.harness.faults.base import NoEffect
from onceproof.harness.faults.targets.stopped_program import StoppedWithInputs
from onceproof.harness.processes.processes import Process
from tests.unit.fakes.pipelines import FakeProgram
from tests.unit.fakes.process import FakeProcess
from tests.unit.fakes.run_context import FakeContext


class Outputs:
    """They grow whenever somebody looks; the program usually pauses for two seconds."""

    pause = 2.0
    changes = 1

    def __init__(self) -> None:
        self.looks = 0

    def size(self) -> int:
        self.looks += 1
        return self.looks


class Stopped(FakeProgram):
    """A program that ends when it is asked to."""

    def stop(self, how: str) -> Process:
        process = FakeProcess("pipeline#1", status=0)
        process.how = how
        return process


class Counted:
    """How much is in hand and for how long nothing was written, question by question."""

    def __init__(self, *seen: tuple[int | None, float]) -> None:
        self.seen = list(seen)
        self.removed = False
        self.quiet_for = 0.0

    def count(self) -> int | None:
        count, self.quiet_for = self.seen.pop(0) if len(self.seen) > 1 else self.seen[0]
        return count

    def remove(self) -> None:
        self.removed = True


@pytest.mark.parametrize(
    ("seen", "proof"),
    [
        # It waits for a part of the usual pause, with something in hand.
        ([(0, 0.1), (7, 0.2), (7, 1.7)], "it had read 7 offsets of its input since it last wrote"),
        # It keeps little, and not for long.
        ([(3, 0.1), (0, 0.0)], "it writes as it reads"),
        ([(None, 0.0)], "its fetches could not be observed"),
    ],
)
def test_what_it_shows(
    monkeypatch: pytest.MonkeyPatch, seen: Sequence[tuple[int | None, float]], proof: str
) -> None:
    evidence = stop(monkeypatch, Counted(*seen)).evidence()
    assert evidence is not None
    assert "SIGTERM by fault «a stop»" in evidence
    assert evidence.endswith(proof)


def test_one_that_keeps_inputs_for_long_and_had_none_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stopped = stop(monkeypatch, Counted((3, 0.6), (0, 0.0)))
    with pytest.raises(NoEffect, match="it had read nothing since it last wrote"):
        stopped.evidence()


def stop(monkeypatch: pytest.MonkeyPatch, counted: Counted) -> StoppedWithInputs:
    monkeypatch.setattr(module, "InputsInHand", lambda context: counted)
    stopped = StoppedWithInputs(FakeContext(pipeline=Stopped(Outputs())), "a stop", 0.8)
    assert counted.removed
    return stopped
