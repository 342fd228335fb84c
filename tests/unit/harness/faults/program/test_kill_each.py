"""In which order several processes are killed."""

from __future__ import annotations

import pytest

from onceproof.harness.faults.program.kill_each import InTurn


@pytest.mark.parametrize(
    ("seen", "picked"),
    [
        # Each is started again by itself.
        (([11, 12], [12, 21], [21, 22]), [11, 12, 21]),
        (([11, 12, 13], [12, 13, 21], [13, 21, 22]), [11, 12, 13]),
        # All are started anew after each.
        (([11, 12], [21, 22], [31, 32]), [11, 22, 31]),
        # One that was started again has an id that is lower than those of the others.
        (([11, 12], [3, 12]), [11, 12]),
    ],
)
def test_each_comes_in_turn(seen: tuple[list[int], ...], picked: list[int]) -> None:
    turns = InTurn()
    assert [turns.pick(pids) for pids in seen] == picked
