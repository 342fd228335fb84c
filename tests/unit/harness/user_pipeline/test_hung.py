"""Which program counts as hung, and what is done with it."""

from __future__ import annotations

from typing import Any

import pytest

from onceproof.harness.user_pipeline.hung import SECONDS, start_if_hung
from onceproof.harness.user_pipeline.outputs.base import UnreadableOutput
from tests.unit.fakes.pipelines import FakeProgram, FakeSupervisor
from tests.unit.fakes.process import FakeProcess
from tests.unit.fakes.run_context import FakeContext, FakeRecorder


class Noted(FakeRecorder):
    """Notes hazards among all that is done."""

    def __init__(self, did: list[str]) -> None:
        super().__init__()
        self.did = did

    def hazard(self, hazard: str, **_: Any) -> None:
        self.did.append(hazard)


class World:
    """A program that runs since ever and has written nothing for `quiet` seconds."""

    def __init__(self, quiet: float = SECONDS + 1, rest: float = 5.0, age: float = 3600.0) -> None:
        self.quiet, self.seen = quiet, quiet
        self.did: list[str] = []
        self.away = False
        self.life = FakeProcess("pipeline#3")
        self.life.started_at -= int(age * 1e9)
        world = self

        class Look:
            @property
            def quiet_for(self) -> float:
                return world.quiet

            def size(self) -> int:
                if world.away:
                    raise UnreadableOutput("away")
                world.quiet = world.seen
                return 7

        class Fake(FakeProgram):
            rest = property(lambda _: rest)

            def kill(self, how: str) -> Any:
                world.did.append(how)

            def start(self) -> None:
                world.did.append("started")

        self.program = Fake(Look(), FakeSupervisor(self.life))
        self.program.may_be_restarted = True
        self.program.supervisor.before_again = lambda: self.did.append("cleared")

    def ask(self) -> list[str]:
        hung = start_if_hung(FakeContext(pipeline=self.program, recorder=Noted(self.did)))
        assert hung is bool(self.did)
        return self.did


def test_one_that_hangs_is_killed_cleared_and_started() -> None:
    told = f"hung: pipeline#3 wrote nothing for {SECONDS + 1:.0f} s while inputs were waiting"
    assert World().ask() == ["hung", told, "cleared", "started"]


@pytest.mark.parametrize(
    "so",
    [
        {"quiet": SECONDS - 1},
        {"quiet": 3 * SECONDS, "rest": 2 * SECONDS},
        {"age": 0.0},
    ],
    ids=["not long enough", "pauses for longer by nature", "just started"],
)
def test_one_that_may_still_be_at_work_is_left_alone(so: dict[str, float]) -> None:
    assert World(**so).ask() == []


def test_one_that_no_plan_kills_is_left_alone() -> None:
    world = World()
    world.program.may_be_restarted = False
    assert world.ask() == []


def test_one_that_does_not_run_or_is_paused_is_left_alone() -> None:
    ended, paused = World(), World()
    ended.life.lives, paused.life.still = False, True
    assert ended.ask() == paused.ask() == []


def test_what_nobody_looked_at_is_looked_at_first() -> None:
    written, unseen = World(), World()
    written.seen = 0.5
    unseen.away = True
    assert written.ask() == unseen.ask() == []
