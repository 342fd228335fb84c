"""Ending a crash point trigger."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

from onceproof.harness.subjects.crash_point_trigger import CrashPointTrigger


class Always(CrashPointTrigger):
    """A trigger that strikes at every sign."""

    def _seen(self, *sign: Any) -> None:
        self._try_strike(7)

    def _look(self, number: int) -> tuple[str, ...]:
        return ()


def test_end_waits_for_a_strike_under_way() -> None:
    begun, may_end = threading.Event(), threading.Event()
    process = SimpleNamespace(
        leader_alive=lambda: True, members=lambda: 2, thaw=lambda: None, ended_at=5
    )

    def strike(_: Any) -> None:
        begun.set()
        assert may_end.wait(10)

    watch: Any = SimpleNamespace(on_sign=None)
    trigger = Always(watch, process=lambda: process, halt=lambda _: None, strike=strike)
    threading.Thread(target=watch.on_sign, daemon=True).start()
    assert begun.wait(10)
    threading.Timer(0.05, may_end.set).start()
    trigger.end()
    assert trigger.hit is not None
    assert trigger.hit.number == 7
    assert watch.on_sign is None, "nothing strikes any more"
