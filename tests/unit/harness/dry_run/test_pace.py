"""The speed of a program that does not keep up with the producers."""

from __future__ import annotations

import pytest

from onceproof.harness.dry_run.pace import PaceMeter
from tests.unit.fakes.pipelines import FakeProgram
from tests.unit.fakes.run_context import FakeContext, FakeProducers
from tests.unit.harness.dry_run.test_learning import TickingLook


class Sending(TickingLook):
    """Ticks of which the first `sending` pass while the producers send."""

    def __init__(self, ticks: str, *, sending: int, producers: FakeProducers) -> None:
        super().__init__(ticks)
        self._left, self._producers = sending, producers

    def wait(self, seconds: float) -> bool:
        over = super().wait(seconds)
        self._producers.finished = self._left == 0
        self._left = max(0, self._left - 1)
        return over


def speed_of(ticks: str, *, sending: int, sent: int) -> float | None:
    producers = FakeProducers(acknowledged=sent)
    watched = Sending(ticks, sending=sending, producers=producers)
    pace = PaceMeter(
        FakeContext(pipeline=FakeProgram(watched), producers=producers, stop=watched.time)
    )
    pace._stopped = watched  # type: ignore[assignment]
    pace._watch()
    return pace._speed()


@pytest.mark.parametrize(
    ("ticks", "sending", "speed"),
    [
        ("wwwwwW", 5, None),  # it is done as soon as all is sent
        ("wwwwwwwwwwwW", 5, 25.0),  # 300 inputs in 12 s, which were sent in 6 s
        ("w.....w.....W", 5, None),  # a batch of 6 s, as usual
        ("wwwwwwwwwww", 5, None),  # not done yet
        ("wwwwwwwW", 5, None),  # 2 s later, and it may pause for 1 s
        ("wwwxxxxxxxxW", 3, None),  # it may have paused for 8 s
    ],
)
def test_speed_of_a_program_that_falls_behind(
    ticks: str, sending: int, speed: float | None
) -> None:
    assert speed_of(ticks, sending=sending, sent=300) == speed
