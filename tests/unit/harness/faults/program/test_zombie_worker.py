"""A zombie shows something only while what it is about to do may still count."""

from __future__ import annotations

from collections.abc import Collection

import pytest

import onceproof.harness.faults.program.zombie_worker as module
from onceproof.harness.context.pipeline import Positions
from onceproof.harness.faults.base import NoEffect
from onceproof.harness.faults.program.zombie_worker import ZombieWorker
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.wait import Overdue
from tests.unit.fakes.run_context import FakeContext

ENDED = "the transaction of copy-1 had already ended"


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
    """What is held of somebody; whose it is can be seen at the third look."""

    def __init__(self) -> None:
        self.looks = self.held = 0

    def hold(self) -> Worked:
        self.held += 1
        return self

    def pause_owner(self) -> int:
        self.looks += 1
        if self.looks < 3:
            raise Overdue("two processes are silent")
        return 12

    def release(self) -> None:
        self.held -= 1


class Held:
    """Offsets that others have committed meanwhile."""

    what = "offsets of copy-1 held"

    def __init__(self, ended: str | None) -> None:
        self._ended = ended

    def overtaken(self, ends: Positions) -> str | None:
        return "have committed its offsets in its place"

    def ended(self) -> str | None:
        return self._ended


@pytest.fixture(autouse=True)
def stage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "GroupMembers", Group)
    monkeypatch.setattr(module, "wait_several", lambda context, group: None)
    monkeypatch.setattr(module, "at_work", lambda context: None)
    monkeypatch.setattr(module, "described", lambda context, pid: f"process {pid} of pipeline#1")


def zombie(monkeypatch: pytest.MonkeyPatch, *, ended: str | None, still_open: bool) -> str | None:
    monkeypatch.setattr(module._Zombie, "_pause_owner", lambda self: (Held(ended), 7))
    fault = ZombieWorker(group="copy", still_open=still_open)
    return fault.inject(FakeContext(), "evicted 1").evidence()


@pytest.mark.parametrize(("ended", "still_open"), [(None, True), (None, False), (ENDED, False)])
def test_others_did_its_work(
    monkeypatch: pytest.MonkeyPatch, ended: str | None, still_open: bool
) -> None:
    proof = zombie(monkeypatch, ended=ended, still_open=still_open)
    assert proof is not None
    assert "went from 2 members to 1, which have committed its offsets in its place" in proof


def test_a_transaction_that_was_aborted_meanwhile_shows_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(NoEffect, match=ENDED):
        zombie(monkeypatch, ended=ENDED, still_open=True)


def test_what_cannot_be_told_is_let_go_and_held_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    work = Worked()
    monkeypatch.setattr(ZombieWorker, "hold", lambda self, context: work.hold())
    zombie = ZombieWorker(group="copy").inject(FakeContext(), "evicted 1")
    assert zombie.target == "process 12 of pipeline#1"
    assert (work.looks, work.held) == (3, 1)


def test_nobody_tells_whose_work_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    work = Worked()
    work.looks = -4
    monkeypatch.setattr(ZombieWorker, "hold", lambda self, context: work.hold())
    with pytest.raises(StageTrouble, match="two processes are silent, in each of 4"):
        ZombieWorker(group="copy").inject(FakeContext(), "evicted 1")
    assert work.held == 0
