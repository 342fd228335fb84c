"""Faults of the Spark driver on a bench that is made up."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from harness.faults.pause_driver import PauseDriver
from harness.wait import Stop
from tests.unit.harness.made_up_driver import AnyDriver


class Driver:
    """A life of the driver that is made up."""

    instance = "driver#1"

    def __init__(self) -> None:
        self.stands_still = False

    def members(self) -> int:
        return 4

    def frozen(self) -> bool:
        return self.stands_still

    def thaw(self) -> None:
        self.stands_still = False


class Pipeline(AnyDriver):
    last_committed = 3


def bench() -> Any:
    driver = Driver()

    def pause() -> Driver:
        driver.stands_still = True
        return driver

    return SimpleNamespace(
        pipeline=Pipeline(process=driver, pause=pause, check=lambda: None),
        producers=SimpleNamespace(acknowledged=100),
        stage=SimpleNamespace(brokers=("broker-1",), connections=lambda link: 1),
        stop=Stop(),
    )


def test_a_pause_is_proved_by_what_was_missed() -> None:
    world = bench()
    injection = PauseDriver().inject(world, "pause-1")
    assert injection.evidence() is None
    world.producers.acknowledged = 150
    assert injection.evidence() == (
        "all 4 processes of driver#1 stand still; meanwhile 50 records were acknowledged and no "
        "micro-batch was committed"
    )
    world.pipeline.last_committed = 4
    assert injection.evidence() is None, "somebody committed"
    injection.heal()
    assert not world.pipeline.process.stands_still
