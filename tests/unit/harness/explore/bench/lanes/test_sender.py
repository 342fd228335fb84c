"""When a producer under test is done: at its end, or after as many failures as are sensible."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from onceproof.harness.explore.bench.lanes.base import Surroundings
from onceproof.harness.explore.bench.lanes.sender import SenderLane
from onceproof.harness.explore.exploration import Load
from onceproof.harness.workload.senders.librdkafka import LIBRDKAFKA


class Lane(SenderLane):
    """Its lives end with the codes that a test says."""

    def __init__(self, *codes: int | None) -> None:
        super().__init__(
            name="lane1",
            load=Load(),
            around=cast("Surroundings", None),
            sender=LIBRDKAFKA,
            transactional=True,
        )
        self._codes = iter(codes)
        self.start()

    def start(self) -> None:
        code = next(self._codes)
        life: Any = SimpleNamespace(popen=SimpleNamespace(poll=lambda: code))
        self.lives.append(life)


@pytest.mark.parametrize(
    ("codes", "over", "lives"),
    [
        ([None], [False, False], 1),
        ([0], [True], 1),
        ([1, 0], [False, True], 2),
        ([-6, None], [False, False], 2),
        ([1, 1, 1], [False, False, True], 3),
    ],
)
def test_life_that_fails_is_followed_by_another(
    codes: list[int | None], over: list[bool], lives: int
) -> None:
    lane = Lane(*codes)
    assert [lane.over() for _ in over] == over
    assert len(lane.lives) == lives
