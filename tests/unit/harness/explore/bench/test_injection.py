"""An injection whose first fault misses: what the others have begun is undone."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from onceproof.harness.explore.acts import Single
from onceproof.harness.explore.bench.injection import Injection
from onceproof.harness.explore.bench.windows import ArmedWindow
from onceproof.harness.explore.points import Place
from onceproof.harness.explore.trials import Aimed, Trial
from onceproof.harness.links.gate.client import Event

WINDOW = Single.parse("client paused @ query/window/after-sink-write/work/first/checkpoint")
MESSAGE = Single.parse("request lost @ query/request/Fetch/work/first/input-leader")


class Missed:
    """A fault whose message never came."""

    def arm(self) -> None: ...

    def met(self) -> list[Event]:
        return []

    def not_met(self) -> str:
        return "without the message"

    def remove(self) -> None: ...


class Froze(ArmedWindow):
    """A fault that has frozen the client in its window."""

    def __init__(self) -> None: ...

    def met(self) -> list[Event]:
        return [cast("Event", {"api": "after-sink-write"})]

    def release(self) -> None:
        released.append("released")

    def remove(self) -> None: ...


released: list[str] = []


def test_client_that_another_fault_has_frozen_goes_on_if_the_first_one_misses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    released.clear()

    def waited(seconds: float) -> None:
        assert released == ["released"]

    life = SimpleNamespace()
    lane: Any = SimpleNamespace(
        name="lane", role="query", only_reads=False, windows=None, lives=[life],
        listen=lambda messages: None, start=lambda: None, close=lambda: None, go_on=lambda: None,
        over=lambda: True, wait_over=waited, perceived=lambda: "",
    )  # fmt: skip
    reports: Any = SimpleNamespace(messages=lambda name: [], settle=lambda: None, wait=_wait)
    place = Place(life=1, nth=1)
    trial = Trial(aimed=tuple(Aimed(single=each, place=place) for each in (MESSAGE, WINDOW)))
    injection = Injection(lane, trial, gate=cast("Any", None), links=[], reports=reports)
    armed = iter((Missed(), Froze()))
    monkeypatch.setattr(injection, "_put", lambda aimed, stack: next(armed))
    met = injection.run()
    assert met.outcome.missed == "the client ended without the message"
    assert met.stalled is None
    assert released == ["released"]


def _wait(until: Callable[[], bool], seconds: float) -> bool:
    return until()
