"""When the next fault may come: not before a program that lives has committed what came behind."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from onceproof.harness.faults.program import programs as module
from onceproof.harness.faults.program.programs import wait_went_on
from onceproof.harness.user_pipeline.program import Program
from onceproof.harness.wait import Stop

TOPIC = "orders"


class Looked:
    """What a program has committed and done, look by look."""

    def __init__(self, committed: list[dict[int, int]], past: list[bool]) -> None:
        self.groups = SimpleNamespace(newest=self.newest)
        self._committed, self._past = committed, past
        self.added: set[int] = set()
        self.pause = 0.0
        self.looks = 0
        self.asked: list[dict[int, int]] = []

    def newest(self) -> dict[tuple[str, int], int]:
        self.looks += 1
        found = self._committed[min(self.looks, len(self._committed)) - 1]
        return {(TOPIC, partition): offset for partition, offset in found.items()}

    def getting_past(self, ends: dict[int, int]) -> Any:
        return lambda: self._looked(ends)

    def _looked(self, ends: dict[int, int]) -> bool:
        self.asked.append(ends)
        return self._past[min(self.looks, len(self._past)) - 1]


def waited(looked: Looked, *, dies: bool = False, finished: bool = False) -> int:
    """How often was looked, where the input ends at 10 and 20."""
    before: Any = SimpleNamespace()
    program = object.__new__(Program)
    program.supervisor = SimpleNamespace(life=None if dies else before)  # type: ignore[assignment]
    program.look = looked  # type: ignore[assignment]
    ends = {0: (10, 10), 1: (20, 20)}
    reader = SimpleNamespace(ends=lambda topic: ends)

    class Opened:
        def __enter__(self) -> Any:
            return reader

        def __exit__(self, *_: object) -> None:
            pass

    context: Any = SimpleNamespace(
        pipeline=program, topic=TOPIC, reader=Opened, stop=Stop(),
        producers=SimpleNamespace(finished=finished),
    )  # fmt: skip
    wait_went_on(context, before)
    return looked.looks


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_GO_ON_SECONDS", 1.0)


def test_its_group_has_committed_to_the_end_of_each_partition() -> None:
    assert waited(Looked([{0: 9, 1: 20}, {0: 10, 1: 19}, {0: 11, 1: 20}], [])) == 3


def test_a_partition_without_a_commit_is_not_waited_for() -> None:
    assert waited(Looked([{0: 10}], [])) == 1


def test_without_commits_its_effects_show_it() -> None:
    looked = Looked([{}], [False, False, True])
    looked.added = {1}
    assert waited(looked) == 3
    assert looked.asked == [{0: 10}] * 3, "an added partition may be one that it never reads"


def test_nobody_waits_for_one_that_has_ended() -> None:
    assert waited(Looked([{0: 0}], []), dies=True) == 0


def test_nobody_waits_when_nothing_more_is_sent() -> None:
    assert waited(Looked([{0: 0}], []), finished=True) == 0


def test_nobody_waits_for_ever() -> None:
    assert waited(Looked([{0: 0, 1: 0}], [])) > 1
