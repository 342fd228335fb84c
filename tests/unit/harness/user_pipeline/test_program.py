"""When your program is at rest, and when it may hold effects back."""

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
    """Groups with fixed committed offsets."""

    def __init__(self, committed: dict[tuple[str, int], int]) -> None:
        self._committed = committed

    def newest(self) -> dict[tuple[str, int], int]:
        return self._committed

    def look(self) -> int:
        return 0


class Look:
    """A look at outputs that raises `error` if there is one."""

    def __init__(
        self, *, still: bool = False, waits: bool = True, committed: int | None = None,
        ends: int = 10, error: Exception | None = None,
    ) -> None:  # fmt: skip
        self._still, self._waits, self._ends, self.error = still, waits, ends, error
        self.changes = 1
        self.waited = 0
        self.rest = 5.0
        self.groups = Groups({} if committed is None else {("orders", 0): committed})

    def _value(self, value: Any) -> Any:
        if self.error is not None:
            raise self.error
        return value

    def size(self) -> int:
        return int(self._value(self.changes))

    def still(self) -> bool:
        return bool(self._value(self._still))

    def waits(self) -> bool:
        self.waited += 1
        return bool(self._value(self._waits))

    def done(self) -> tuple[int, int]:
        return self._value((7, 9))  # type: ignore[no-any-return]

    def input_logs(self) -> list[Any]:
        return [log(topic="orders", end=self._ends)]


def program(look: Look, *, alive: bool = True, uptime: float = 60.0) -> Program:
    process = FakeProcess()
    process.started_at -= int(uptime * 1e9)
    return FakeProgram(look, FakeSupervisor(process if alive else None))


READ_ERRORS = [
    UnreadableLog("no leader"),
    UnreadableOutput("no file"),
    psycopg.OperationalError("gone"),
]


@pytest.mark.parametrize(
    ("still", "waits", "rests"),
    [(True, True, True), (False, False, True), (True, False, True), (False, True, False)],
)
def test_rests_when_nothing_is_awaited_or_outputs_are_idle(
    still: bool, waits: bool, rests: bool
) -> None:
    assert program(Look(still=still, waits=waits)).rests() is rests


def test_rereads_effects_only_after_outputs_change() -> None:
    look = Look()
    running = program(look)
    assert [running.rests() for _ in range(3)] == [False] * 3
    assert look.waited == 1
    look.changes, look._waits = 2, False
    assert running.rests()
    assert look.waited == 2


@pytest.mark.parametrize("error", READ_ERRORS, ids=lambda error: type(error).__name__)
def test_does_not_rest_while_outputs_are_unreadable(error: Exception) -> None:
    look = Look(error=error)
    running = program(look)
    assert not running.rests()
    assert not running.idle()
    assert running.shortly() == f"its outputs could not be read: {error}"
    assert running.holds_back() is None
    look.error, look._still = None, True
    assert running.rests()
    assert running.shortly() is None


@pytest.mark.parametrize("uptime", [1.0, 60.0])
@pytest.mark.parametrize("committed", [None, 3, 9])
def test_has_read_all_once_every_input_has_effects(committed: int | None, uptime: float) -> None:
    assert program(Look(waits=False, committed=committed), uptime=uptime).has_read_all()


@pytest.mark.parametrize(
    ("still", "uptime", "committed", "read_all"),
    [
        (True, 60.0, 9, True),
        (True, 60.0, None, True),
        (False, 60.0, 9, False),
        (True, 4.0, 9, False),
        (True, 60.0, 8, False),
    ],
    ids=["at the end", "commits nothing", "still writes", "just started", "more to read"],
)
def test_has_read_all_with_missing_effects_only_at_rest(
    still: bool, uptime: float, committed: int | None, read_all: bool
) -> None:
    assert program(Look(still=still, committed=committed), uptime=uptime).has_read_all() is read_all


def test_ended_program_has_not_read_all() -> None:
    assert not program(Look(still=True), alive=False).has_read_all()


def test_reached_counts_inputs_with_effects() -> None:
    assert program(Look()).reached() == 7
    assert program(Look(error=READ_ERRORS[0])).reached() == 0


@pytest.mark.parametrize("committed", [None, 10, 9])
def test_program_that_read_everything_may_hold_effects_back(committed: int | None) -> None:
    reason = program(Look(committed=committed)).holds_back()
    assert reason is not None
    assert reason.startswith("2 of 9 inputs lack an effect in at least one output")
    assert "--settle" in reason


def test_program_with_unread_inputs_holds_nothing_back() -> None:
    assert program(Look(committed=8)).holds_back() is None


def test_ended_program_holds_nothing_back() -> None:
    assert program(Look(), alive=False).holds_back() is None
