"""What a run context tells of a topic that brokers may not know yet."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from onceproof.harness.faults.cluster.leadership import led
from onceproof.harness.wait import Overdue
from tests.unit.fakes.run_context import FakeContext, FakeStop
from tests.unit.fakes.stage import FakeStage, Said

TOLD: Said = {("payments", 0): (2, {1, 2, 3}), ("payments", 1): (1, {1, 2, 3})}


class Pausing(FakeStop):
    """Does something in the first pause."""

    def __init__(self, do: Callable[[], object]) -> None:
        super().__init__()
        self._do: Callable[[], object] | None = do

    def pause(self, seconds: float) -> None:
        super().pause(seconds)
        if self._do:
            self._do()
            self._do = None


def silent_first() -> FakeContext:
    stage = FakeStage(said={})
    return FakeContext(stage=stage, stop=Pausing(lambda: stage.said.update(TOLD)))


def test_partitions_are_asked_for_until_a_broker_tells_them() -> None:
    assert [p.partition for p in silent_first().partitions()] == [0, 1]
    assert silent_first().led_by(2) == {0}
    assert led(silent_first(), 1) == [("payments", 1)]


def test_a_broker_that_leads_nothing_is_an_answer() -> None:
    assert led(FakeContext(stage=FakeStage(said=dict(TOLD))), 3) == []


def test_silence_is_an_error() -> None:
    context = FakeContext(stage=FakeStage(said={}))
    with pytest.raises(Overdue, match="a broker to report the partitions of payments"):
        context.partitions()
    with pytest.raises(Overdue, match="a broker to report which partitions broker-1 leads"):
        led(context, 1)
