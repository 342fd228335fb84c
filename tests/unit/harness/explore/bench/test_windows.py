"""Windows of a client: their events, what is due after them, and faults that wait for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Timer
from typing import ClassVar, cast

import pytest

from onceproof.harness.explore.bench.windows import ArmedWindow, Windows
from onceproof.harness.processes.processes import Process
from onceproof.harness.subjects.crash_point_trigger import CrashPointTrigger

END = "written"


@dataclass
class Driver:
    """A process that notes what is done to it."""

    done: list[str] = field(default_factory=list)
    halted: bool = False

    def leader_alive(self) -> bool:
        return True

    def frozen(self) -> bool:
        return self.halted

    def freeze(self) -> None:
        self.done.append("freeze")

    def thaw(self) -> None:
        self.done.append("thaw")


@dataclass
class Hit:
    number: int


@dataclass
class Trigger:
    """A trigger that hits when a test says so."""

    hit: Hit | None = None
    error: Exception | None = None
    misses: int = 0
    inside: bool = True
    ended: bool = False

    def still_in_window(self) -> bool:
        return self.inside

    def release(self) -> None:
        self.ended = True

    def end(self) -> None:
        self.ended = True


class Made(Windows):
    ends: ClassVar[str] = END

    def __init__(self, driver: Driver) -> None:
        super().__init__(lambda: cast("Process", driver))
        self.trigger = Trigger()

    def arm(self, window: str) -> CrashPointTrigger:
        return cast("CrashPointTrigger", self.trigger)

    def check(self) -> None: ...
    def close(self) -> None: ...

    def unit(self, number: int) -> None:
        self.note("planned", number=number, purpose="work", at=number)
        self.note(END, number=number, purpose="commit", at=number)


@pytest.fixture
def driver() -> Driver:
    return Driver()


@pytest.fixture
def windows(driver: Driver) -> Made:
    return Made(driver)


@pytest.fixture
def noting(driver: Driver) -> Callable[[], None]:
    return lambda: driver.done.append("done")


def test_event_has_the_life_that_had_begun(windows: Made) -> None:
    windows.begin()
    windows.unit(0)
    windows.begin()
    windows.unit(1)
    found = [(e["api"], e["life"], e["ends"]) for e in windows.passed()]
    assert found == [("planned", 1, False), (END, 1, True), ("planned", 2, False), (END, 2, True)]


def test_client_is_frozen_while_something_is_due(
    windows: Made, driver: Driver, noting: Callable[[], None]
) -> None:
    windows.when(1, END, 2, noting)
    windows.begin()
    windows.unit(0)
    assert driver.done == []
    windows.unit(1)
    assert driver.done == ["freeze", "done", "thaw"]
    windows.unit(2)
    assert len(driver.done) == 3, "it is done once"


def test_struck_client_stays_frozen(
    windows: Made, driver: Driver, noting: Callable[[], None]
) -> None:
    windows.when(1, END, 1, noting)
    windows.begin()
    driver.halted = True
    windows.unit(0)
    assert driver.done == ["done"]


def test_counts_are_those_of_a_life(
    windows: Made, driver: Driver, noting: Callable[[], None]
) -> None:
    windows.when(2, END, 0, noting)
    windows.when(2, END, 1, noting)
    windows.begin()
    windows.unit(0)
    assert driver.done == []
    windows.begin()
    assert driver.done == ["done"]
    windows.unit(1)
    assert driver.done == ["done", "freeze", "done", "thaw"]


def test_fault_meets_the_window_of_the_life_that_it_struck(windows: Made) -> None:
    armed = ArmedWindow(windows, "planned")
    windows.begin()
    armed.arm()
    windows.unit(0)
    assert armed.met() == []
    windows.trigger.hit = Hit(0)
    (event,) = armed.met()
    assert (event["api"], event["life"]) == ("planned", 1)
    windows.begin()
    windows.unit(0)
    assert armed.met() == [event], "the next life does the same batch again"


def test_fault_waits_for_the_event_of_its_window(windows: Made) -> None:
    """The trigger hits before the sign is noted."""
    armed = ArmedWindow(windows, "planned")
    windows.begin()
    armed.arm()
    windows.trigger.hit = Hit(0)
    assert armed.met() == []
    windows.unit(0)
    assert len(armed.met()) == 1


def test_fault_that_is_disarmed_as_it_strikes_has_met_its_window(windows: Made) -> None:
    armed = ArmedWindow(windows, "planned")
    windows.begin()
    armed.arm()
    windows.trigger.hit = Hit(0)
    Timer(0.05, windows.unit, [0]).start()
    armed.remove()
    assert len(armed.met()) == 1


def test_removed_fault_is_not_armed_later(windows: Made) -> None:
    """Its unit may come only when the trial goes on, and then nobody would thaw the client."""
    armed = ArmedWindow(windows, "planned")
    windows.when(1, END, 1, armed.arm)
    windows.begin()
    armed.remove()
    windows.unit(0)
    assert armed.not_met() == "without the window"


def test_client_that_left_its_window_is_missed(windows: Made) -> None:
    armed = ArmedWindow(windows, "planned")
    armed.arm()
    assert armed.left() is None
    windows.trigger.inside = False
    assert armed.left() == "it had left the window planned when it was struck"


def test_reason_of_a_miss_says_how_often_it_was_out_of_the_window(windows: Made) -> None:
    armed = ArmedWindow(windows, "planned")
    assert armed.not_met() == "without the window"
    armed.arm()
    windows.trigger.misses = 3
    assert "out of the window each of the 3 times" in armed.not_met()
    windows.trigger.error = OSError("no way in")
    assert "no way in" in armed.not_met()
    armed.remove()
    assert windows.trigger.ended
