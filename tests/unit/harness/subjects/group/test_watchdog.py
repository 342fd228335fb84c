"""Detection of client calls that hang."""

from __future__ import annotations

from onceproof.harness.subjects.group.watchdog import RepeatedChecks


def test_call_seen_too_often_hangs() -> None:
    looks, call = RepeatedChecks(3), ("commit",)
    assert [looks.hung(call) for _ in range(5)] == [False, False, False, False, True]


def test_equal_but_distinct_call_restarts_the_count() -> None:
    looks = RepeatedChecks(1)
    assert not looks.hung(["commit"])
    assert not looks.hung(["commit"])
    assert not looks.hung(None)
    call = ["commit"]
    assert [looks.hung(call), looks.hung(None), looks.hung(call), looks.hung(call)] == [False] * 4
    assert looks.hung(call)
