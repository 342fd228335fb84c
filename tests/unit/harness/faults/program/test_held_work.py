"""Whose work is held, where it can be told only by who goes on without it."""

from __future__ import annotations

import pytest

import onceproof.harness.faults.program.held_work as module
from onceproof.harness.faults.program.held_work import HeldOffsets
from onceproof.harness.wait import Overdue

OWNER = 12


class Offsets(HeldOffsets):
    """Of process 12; the transactions end of all others that do not stand still."""

    def __init__(self, working: set[int]) -> None:
        self._context = object()  # type: ignore[assignment]
        self.working, self.paused = working, set[int]()

    def _others_end(self, others: int) -> bool:
        return len(self.working - self.paused - {OWNER}) >= others


def offsets(monkeypatch: pytest.MonkeyPatch, working: set[int]) -> Offsets:
    held = Offsets(working)
    monkeypatch.setattr(module, "workers", lambda context: [11, OWNER, 13])
    monkeypatch.setattr(module, "freeze", held.paused.add)
    monkeypatch.setattr(module, "thaw", held.paused.discard)
    return held


def test_of_three_the_one_stands_still_whose_offsets_are_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held = offsets(monkeypatch, {11, OWNER, 13})
    assert held.pause_owner() == OWNER
    assert held.paused == {OWNER}


def test_with_another_one_idle_nobody_can_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    held = offsets(monkeypatch, {11, OWNER})
    with pytest.raises(Overdue, match="nobody went on while one process stood still"):
        held.pause_owner()
    assert not held.paused
