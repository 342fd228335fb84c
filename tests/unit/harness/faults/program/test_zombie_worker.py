"""A zombie shows something only while what it is about to do may still count."""

from __future__ import annotations

from collections.abc import Collection

import pytest

import onceproof.harness.faults.program.zombie_worker as module
from onceproof.harness.context.pipeline import Positions
from onceproof.harness.faults.base import NoEffect
from onceproof.harness.faults.program.zombie_worker import ZombieWorker
from tests.unit.fakes.run_context import FakeContext

ENDED = "the transaction of copy-1 was over by then"


class Group:
    """Two members, and one when the other stands still."""

    def __init__(self, context: object, name: str) -> None:
        self.left = 2

    def wait_stable(self) -> Collection[str]:
        return {"a", "b"}

    def ids(self) -> Collection[str]:
        self.left = 1
        return {"a"}


class Worked:
    """What is held is of process 12; as many others work as stand still with it or go on."""

    def __init__(self) -> None:
        self.paused: set[int] = set()
        self.released = False

    def others_go_on(self, others: int) -> bool:
        return len({11, 12, 13} - self.paused - {12}) >= others

    def release(self) -> None:
        self.released = True


class Held:
    """Offsets that others have committed meanwhile."""

    what = "offsets of copy-1 held"

    def __init__(self, ended: str | None) -> None:
        self._ended = ended

    def overtaken(self, ends: Positions) -> str | None:
        return "have committed all that it had in hand"

    def ended(self) -> str | None:
        return self._ended


@pytest.fixture(autouse=True)
def stage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "GroupMembers", Group)
    monkeypatch.setattr(module, "wait_several", lambda context, group: None)
    monkeypatch.setattr(module, "at_work", lambda context: None)
    monkeypatch.setattr(module, "described", lambda context, pid: f"process {pid} of pipeline#1")


def zombie(monkeypatch: pytest.MonkeyPatch, *, ended: str | None, still_open: bool) -> str | None:
    monkeypatch.setattr(module._Zombie, "_caught", lambda self: (Held(ended), 7))
    fault = ZombieWorker(group="copy", still_open=still_open)
    return fault.inject(FakeContext(), "evicted 1").evidence()


@pytest.mark.parametrize(("ended", "still_open"), [(None, True), (None, False), (ENDED, False)])
def test_others_did_its_work(
    monkeypatch: pytest.MonkeyPatch, ended: str | None, still_open: bool
) -> None:
    proof = zombie(monkeypatch, ended=ended, still_open=still_open)
    assert proof is not None
    assert "went from 2 members to 1, which have committed all that it had in hand" in proof


def test_a_transaction_that_was_aborted_meanwhile_shows_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(NoEffect, match=ENDED):
        zombie(monkeypatch, ended=ENDED, still_open=True)


def test_of_three_the_one_stands_still_whose_work_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    held = Worked()
    monkeypatch.setattr(module, "workers", lambda context: [11, 12, 13])
    monkeypatch.setattr(module.os, "kill", lambda pid, signal: held.paused.add(pid))
    monkeypatch.setattr(module, "thaw", held.paused.discard)
    monkeypatch.setattr(ZombieWorker, "hold", lambda self, context: held)
    zombie = ZombieWorker(group="copy").inject(FakeContext(), "evicted 1")
    assert zombie.target == "process 12 of pipeline#1"
    assert held.paused == {12}
    assert not held.released
