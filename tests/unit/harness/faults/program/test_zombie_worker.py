"""A zombie worker has an effect only while its work can still be committed."""

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
    """A group of two members, one of which leaves when it is paused."""

    def __init__(self, context: object, name: str) -> None:
        self.left = 2

    def wait_stable(self) -> Collection[str]:
        return {"a", "b"}

    def ids(self) -> Collection[str]:
        self.left = 1
        return {"a"}


class HeldWork:
    """Held work whose owner is found at the third attempt."""

    def __init__(self) -> None:
        self.attempts = self.held = 0

    def hold(self) -> HeldWork:
        self.held += 1
        return self

    def pause_owner(self) -> int:
        self.attempts += 1
        if self.attempts < 3:
            raise Overdue("two processes are silent")
        return 12

    def release(self) -> None:
        self.held -= 1


class Held:
    """Held offsets that other members have committed meanwhile."""

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


def inject_zombie(
    monkeypatch: pytest.MonkeyPatch, *, ended: str | None, still_open: bool
) -> str | None:
    monkeypatch.setattr(module._Zombie, "_pause_owner", lambda self: (Held(ended), 7))
    fault = ZombieWorker(group="copy", still_open=still_open)
    return fault.inject(FakeContext(), "evicted 1").evidence()


@pytest.mark.parametrize(("ended", "still_open"), [(None, True), (None, False), (ENDED, False)])
def test_evidence_that_other_members_did_its_work(
    monkeypatch: pytest.MonkeyPatch, ended: str | None, still_open: bool
) -> None:
    proof = inject_zombie(monkeypatch, ended=ended, still_open=still_open)
    assert proof is not None
    assert "went from 2 members to 1, which have committed its offsets in its place" in proof


def test_no_effect_if_the_transaction_ended_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(NoEffect, match=ENDED):
        inject_zombie(monkeypatch, ended=ENDED, still_open=True)


def test_holds_again_until_the_owner_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    work = HeldWork()
    monkeypatch.setattr(ZombieWorker, "hold", lambda self, context: work.hold())
    zombie = ZombieWorker(group="copy").inject(FakeContext(), "evicted 1")
    assert zombie.target == "process 12 of pipeline#1"
    assert (work.attempts, work.held) == (3, 1)


def test_releases_and_fails_if_the_owner_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    work = HeldWork()
    work.attempts = -4
    monkeypatch.setattr(ZombieWorker, "hold", lambda self, context: work.hold())
    with pytest.raises(StageTrouble, match="two processes are silent, in each of 4"):
        ZombieWorker(group="copy").inject(FakeContext(), "evicted 1")
    assert work.held == 0
