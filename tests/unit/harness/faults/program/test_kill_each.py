"""Order in which several processes are killed."""

from __future__ import annotations

import pytest

from onceproof.harness.faults.program.kill_each import NextProcess


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        # Each process is restarted on its own.
        (([11, 12], [12, 21], [21, 22]), [11, 12, 21]),
        (([11, 12, 13], [12, 13, 21], [13, 21, 22]), [11, 12, 13]),
        # All processes are restarted after each kill.
        (([11, 12], [21, 22], [31, 32]), [11, 22, 31]),
        # A restarted process has the lowest id.
        (([11, 12], [3, 12]), [11, 12]),
    ],
)
def test_picks_each_process_in_turn(seen: tuple[list[int], ...], expected: list[int]) -> None:
    turns = NextProcess()
    assert [turns.pick(pids) for pids in seen] == expected
