"""When a call of a client hangs."""

from __future__ import annotations

from onceproof.harness.subjects.group.watchdog import Looks


def test_a_call_that_is_met_too_often_hangs() -> None:
    looks, call = Looks(3), ("commit",)
    assert [looks.hung(call) for _ in range(5)] == [False, False, False, False, True]


def test_another_call_of_the_same_name_begins_anew() -> None:
    looks = Looks(1)
    assert not looks.hung(["commit"])
    assert not looks.hung(["commit"])
    assert not looks.hung(None)
    call = ["commit"]
    assert [looks.hung(call), looks.hung(None), looks.hung(call), looks.hung(call)] == [False] * 4
    assert looks.hung(call)
