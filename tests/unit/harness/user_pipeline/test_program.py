"""A program of a user: whether it has come to rest, and may still hold something back."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from onceproof.harness.kafka.log_reader import UnreadableLog
from onceproof.harness.user_pipeline.group_commits import GroupCommits
from onceproof.harness.user_pipeline.outputs.base import UnreadableOutput
from onceproof.harness.user_pipeline.program import Program
from tests.unit.fakes.logs import log
from tests.unit.fakes.pipelines import FakeProgram, FakeSupervisor
from tests.unit.fakes.process import FakeProcess


class Groups(GroupCommits):
    """Groups that have committed these offsets."""

    def __init__(self, committed: dict[tuple[str, int], int]) -> None:
        self._committed = committed

    def newest(self) -> dict[tuple[str, int], int]:
        return self._committed

    def look(self) -> int:
        return 0


class Look:
    """What is seen of its outputs; `away` is raised instead."""

    def __init__(
        self, *, still: bool = False, waits: bool = True, committed: int | None = None,
        ends: int = 10, away: Exception | None = None,
    ) -> None:  # fmt: skip
        self._still, self._waits, self._ends, self.away = still, waits, ends, away
        self.changes = 1
        self.waited = 0
        self.rest = 5.0
        self.groups = Groups({} if committed is None else {("orders", 0): committed})

    def _seen(self, what: Any) -> Any:
        if self.away is not None:
            raise self.away
        return what

    def size(self) -> int:
        return int(self._seen(self.changes))

    def still(self) -> bool:
        return bool(self._seen(self._still))

    def waits(self) -> bool:
        self.waited += 1
        return bool(self._seen(self._waits))

    def done(self) -> tuple[int, int]:
        return self._seen((7, 9))  # type: ignore[no-any-return]

    def input_logs(self) -> list[Any]:
        return [log(topic="orders", end=self._ends)]


def program(look: Look, *, alive: bool = True, lasts: float = 60.0) -> Program:
    life = FakeProcess()
    life.started_at -= int(lasts * 1e9)
    return FakeProgram(look, FakeSupervisor(life if alive else None))


AWAY = [UnreadableLog("no leader"), UnreadableOutput("no file"), psycopg.OperationalError("gone")]


@pytest.mark.parametrize(
    ("still", "waits", "rests"),
    [(True, True, True), (False, False, True), (True, False, True), (False, True, False)],
)
def test_it_rests_when_all_is_done_or_nothing_changes(
    still: bool, waits: bool, rests: bool
) -> None:
    assert program(Look(still=still, waits=waits)).rests() is rests


def test_what_is_waited_for_is_read_again_only_when_outputs_changed() -> None:
    look = Look()
    made = program(look)
    assert [made.rests() for _ in range(3)] == [False] * 3
    assert look.waited == 1
    look.changes, look._waits = 2, False
    assert made.rests()
    assert look.waited == 2


@pytest.mark.parametrize("error", AWAY, ids=lambda error: type(error).__name__)
def test_while_its_outputs_cannot_be_seen_it_does_not_rest(error: Exception) -> None:
    look = Look(away=error)
    made = program(look)
    assert not made.rests()
    assert not made.idle()
    assert made.shortly() == f"its outputs could not be read: {error}"
    assert made.holds_back() is None
    look.away, look._still = None, True
    assert made.rests()
    assert made.shortly() is None


@pytest.mark.parametrize("lasts", [1.0, 60.0])
@pytest.mark.parametrize("committed", [None, 3, 9])
def test_one_whose_inputs_all_have_effects_has_read_all(
    committed: int | None, lasts: float
) -> None:
    assert program(Look(waits=False, committed=committed), lasts=lasts).has_read_all()


@pytest.mark.parametrize(
    ("still", "lasts", "committed", "read_all"),
    [
        (True, 60.0, 9, True),
        (True, 60.0, None, True),
        (False, 60.0, 9, False),
        (True, 4.0, 9, False),
        (True, 60.0, 8, False),
    ],
    ids=["at its end", "commits nothing", "still writes", "just started", "has more to read"],
)
def test_one_that_has_effects_to_come_has_read_all_only_if_it_rests(
    still: bool, lasts: float, committed: int | None, read_all: bool
) -> None:
    assert program(Look(still=still, committed=committed), lasts=lasts).has_read_all() is read_all


def test_one_that_has_ended_has_not_read_all() -> None:
    assert not program(Look(still=True), alive=False).has_read_all()


def test_how_far_it_is_is_seen_from_inputs_that_have_effects() -> None:
    assert program(Look()).reached() == 7
    assert program(Look(away=AWAY[0])).reached() == 0


@pytest.mark.parametrize("committed", [None, 10, 9])
def test_one_that_has_read_everything_may_hold_back(committed: int | None) -> None:
    why = program(Look(committed=committed)).holds_back()
    assert why is not None
    assert why.startswith("2 of 9 inputs lack an effect in at least one output")
    assert "--settle" in why


def test_one_that_has_not_read_everything_does_not_hold_back() -> None:
    assert program(Look(committed=8)).holds_back() is None


def test_one_that_has_ended_holds_nothing_back() -> None:
    assert program(Look(), alive=False).holds_back() is None
