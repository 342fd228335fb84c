"""When the next fault may come: not before a program that lives has committed what came behind."""

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


class Looked:
    """What a program has committed and done, look by look."""

    def __init__(self, committed: list[dict[int, int]], past: list[bool]) -> None:
        self.groups = self
        self._committed, self._past = committed, past
        self.added: set[tuple[str, int]] = set()
        self.pause = 0.0
        self.looks = 0
        self.asked: list[Positions] = []

    def newest(self) -> dict[tuple[str, int], int]:
        self.looks += 1
        found = self._committed[min(self.looks, len(self._committed)) - 1]
        return {(TOPIC, partition): offset for partition, offset in found.items()}

    def getting_past(self, ends: Positions) -> Any:
        return lambda: self._looked(ends)

    def _looked(self, ends: Positions) -> bool:
        self.asked.append(ends)
        return self._past[min(self.looks, len(self._past)) - 1]


def waited(looked: Looked, *, dies: bool = False, finished: bool = False) -> int:
    """How often was looked, where the input ends at 10 and 20."""
    before = FakeProcess()
    context = FakeContext(
        pipeline=FakeProgram(looked, FakeSupervisor(None if dies else before)),
        logs=FakeReader(log(topic=TOPIC, partition=p, end=end) for p, end in ((0, 10), (1, 20))),
        producers=FakeProducers(finished=finished, workload=Payments(topic=TOPIC)),
    )
    wait_went_on(context, before)
    return looked.looks


def test_its_group_has_committed_to_the_end_of_each_partition() -> None:
    assert waited(Looked([{0: 9, 1: 20}, {0: 10, 1: 19}, {0: 11, 1: 20}], [])) == 3


def test_a_partition_without_a_commit_is_not_waited_for() -> None:
    assert waited(Looked([{0: 10}], [])) == 1


def test_without_commits_its_effects_show_it() -> None:
    looked = Looked([{}], [False, False, True])
    looked.added = {(TOPIC, 1)}
    assert waited(looked) == 3
    assert looked.asked == [{(TOPIC, 0): 10}] * 3, "an added one may never be read"


def test_nobody_waits_for_one_that_has_ended() -> None:
    assert waited(Looked([{0: 0}], []), dies=True) == 0


def test_nobody_waits_when_nothing_more_is_sent() -> None:
    assert waited(Looked([{0: 0}], []), finished=True) == 0


def test_nobody_waits_for_ever() -> None:
    assert waited(Looked([{0: 0, 1: 0}], [])) > 1
