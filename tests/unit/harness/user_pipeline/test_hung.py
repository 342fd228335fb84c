"""Hung programs are detected and restarted."""

from __future__ import annotations

from typing import Any

import pytest

from onceproof.harness.user_pipeline.hung import SECONDS, start_if_hung
from onceproof.harness.user_pipeline.outputs.base import UnreadableOutput
from tests.unit.fakes.pipelines import FakeProgram, FakeSupervisor
from tests.unit.fakes.process import FakeProcess
from tests.unit.fakes.run_context import FakeContext, FakeRecorder


class ActionRecorder(FakeRecorder):
    """Appends hazards to the actions."""

    def __init__(self, actions: list[str]) -> None:
        super().__init__()
        self.actions = actions

    def hazard(self, hazard: str, **_: Any) -> None:
        self.actions.append(hazard)


class World:
    """A long-running program that has written nothing for `quiet` seconds."""

    def __init__(self, quiet: float = SECONDS + 1, rest: float = 5.0, age: float = 3600.0) -> None:
        self.quiet, self.quiet_after_look = quiet, quiet
        self.actions: list[str] = []
        self.unreadable = False
        self.process = FakeProcess("pipeline#3")
        self.process.started_at -= int(age * 1e9)
        world = self

        class Look:
            @property
            def quiet_for(self) -> float:
                return world.quiet

            def size(self) -> int:
                if world.unreadable:
                    raise UnreadableOutput("away")
                world.quiet = world.quiet_after_look
                return 7

        class Fake(FakeProgram):
            rest = property(lambda _: rest)

            def kill(self, how: str) -> Any:
                world.actions.append(how)

            def start(self) -> None:
                world.actions.append("started")

        self.program = Fake(Look(), FakeSupervisor(self.process))
        self.program.may_be_restarted = True
        self.program.supervisor.before_again = lambda: self.actions.append("cleared")

    def restart_if_hung(self) -> list[str]:
        hung = start_if_hung(
            FakeContext(pipeline=self.program, recorder=ActionRecorder(self.actions))
        )
        assert hung is bool(self.actions)
        return self.actions


def test_hung_program_is_killed_cleared_and_restarted() -> None:
    killed = f"hung: pipeline#3 wrote nothing for {SECONDS + 1:.0f} s while inputs were waiting"
    assert World().restart_if_hung() == ["hung", killed, "cleared", "started"]


@pytest.mark.parametrize(
    "settings",
    [
        {"quiet": SECONDS - 1},
        {"quiet": 3 * SECONDS, "rest": 2 * SECONDS},
        {"age": 0.0},
    ],
    ids=["quiet too briefly", "long pauses are normal", "just started"],
)
def test_program_that_may_be_working_is_left_alone(settings: dict[str, float]) -> None:
    assert World(**settings).restart_if_hung() == []


def test_program_that_may_not_be_restarted_is_left_alone() -> None:
    world = World()
    world.program.may_be_restarted = False
    assert world.restart_if_hung() == []


def test_ended_or_paused_program_is_left_alone() -> None:
    ended, paused = World(), World()
    ended.process.lives, paused.process.still = False, True
    assert ended.restart_if_hung() == paused.restart_if_hung() == []


def test_restart_needs_a_fresh_look_at_the_outputs() -> None:
    just_wrote, unknown = World(), World()
    just_wrote.quiet_after_look = 0.5
    unknown.unreadable = True
    assert just_wrote.restart_if_hung() == unknown.restart_if_hung() == []
