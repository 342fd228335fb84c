"""A run context waits until a broker reports the partitions of a topic."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from onceproof.harness.faults.cluster.leadership import led
from onceproof.harness.wait import Overdue
from tests.unit.fakes.run_context import FakeContext, FakeStop
from tests.unit.fakes.stage import FakeStage, Said

METADATA: Said = {("payments", 0): (2, {1, 2, 3}), ("payments", 1): (1, {1, 2, 3})}


class Pausing(FakeStop):
    """Calls a function in the first pause."""

    def __init__(self, do: Callable[[], object]) -> None:
        super().__init__()
        self._do: Callable[[], object] | None = do

    def pause(self, seconds: float) -> None:
        super().pause(seconds)
        if self._do:
            self._do()
            self._do = None


def context_with_late_metadata() -> FakeContext:
    stage = FakeStage(said={})
    return FakeContext(stage=stage, stop=Pausing(lambda: stage.said.update(METADATA)))


def test_waits_until_a_broker_reports_partitions() -> None:
    assert [p.partition for p in context_with_late_metadata().partitions()] == [0, 1]
    assert context_with_late_metadata().led_by(2) == {0}
    assert led(context_with_late_metadata(), 1) == [("payments", 1)]


def test_broker_may_lead_no_partition() -> None:
    assert led(FakeContext(stage=FakeStage(said=dict(METADATA))), 3) == []


def test_unreported_partitions_are_overdue() -> None:
    context = FakeContext(stage=FakeStage(said={}))
    with pytest.raises(Overdue, match="a broker to report the partitions of payments"):
        context.partitions()
    with pytest.raises(Overdue, match="a broker to report which partitions broker-1 leads"):
        led(context, 1)
