"""The next fault waits until a living program has committed up to the current ends."""

from __future__ import annotations

from typing import Any

from onceproof.harness.context.pipeline import Positions
from onceproof.harness.faults.program.programs import wait_went_on
from onceproof.harness.workload.payments import Payments
from tests.unit.fakes.logs import FakeReader, log
from tests.unit.fakes.pipelines import FakeProgram, FakeSupervisor
from tests.unit.fakes.process import FakeProcess
from tests.unit.fakes.run_context import FakeContext, FakeProducers

TOPIC = "orders"


class FakeLook:
    """A look whose committed offsets and progress change with each read."""

    def __init__(self, committed: list[dict[int, int]], past: list[bool]) -> None:
        self.groups = self
        self._committed, self._past = committed, past
        self.added: set[tuple[str, int]] = set()
        self.pause = 0.0
        self.looks = 0
        self.asked_ends: list[Positions] = []

    def newest(self) -> dict[tuple[str, int], int]:
        self.looks += 1
        found = self._committed[min(self.looks, len(self._committed)) - 1]
        return {(TOPIC, partition): offset for partition, offset in found.items()}

    def getting_past(self, ends: Positions) -> Any:
        return lambda: self._is_past(ends)

    def _is_past(self, ends: Positions) -> bool:
        self.asked_ends.append(ends)
        return self._past[min(self.looks, len(self._past)) - 1]


def count_looks(look: FakeLook, *, dies: bool = False, finished: bool = False) -> int:
    """Number of looks until it went on, with an input that ends at offsets 10 and 20."""
    process = FakeProcess()
    context = FakeContext(
        pipeline=FakeProgram(look, FakeSupervisor(None if dies else process)),
        logs=FakeReader(log(topic=TOPIC, partition=p, end=end) for p, end in ((0, 10), (1, 20))),
        producers=FakeProducers(finished=finished, workload=Payments(topic=TOPIC)),
    )
    wait_went_on(context, process)
    return look.looks


def test_waits_until_the_group_commits_to_the_end_of_each_partition() -> None:
    assert count_looks(FakeLook([{0: 9, 1: 20}, {0: 10, 1: 19}, {0: 11, 1: 20}], [])) == 3


def test_ignores_partitions_without_a_commit() -> None:
    assert count_looks(FakeLook([{0: 10}], [])) == 1


def test_waits_for_effects_if_nothing_is_committed() -> None:
    look = FakeLook([{}], [False, False, True])
    look.added = {(TOPIC, 1)}
    assert count_looks(look) == 3
    assert look.asked_ends == [{(TOPIC, 0): 10}] * 3, "an added one may never be read"


def test_does_not_wait_for_an_ended_program() -> None:
    assert count_looks(FakeLook([{0: 0}], []), dies=True) == 0


def test_does_not_wait_after_the_last_input() -> None:
    assert count_looks(FakeLook([{0: 0}], []), finished=True) == 0


def test_gives_up_without_progress() -> None:
    assert count_looks(FakeLook([{0: 0, 1: 0}], [])) > 1
