"""Which program counts as hung, and what is done with it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from onceproof.harness.clock import now
from onceproof.harness.user_pipeline.hung import SECONDS, start_if_hung
from onceproof.harness.user_pipeline.outputs.base import UnreadableOutput
from onceproof.harness.user_pipeline.program import Program


class World:
    """A program that runs since ever and has written nothing for `quiet` seconds."""

    def __init__(self, quiet: float = SECONDS + 1, rest: float = 5.0, age: float = 3600.0) -> None:
        self.quiet, self.seen = quiet, quiet
        self.did: list[str] = []
        self.alive, self.stands_still, self.away = True, False, False
        self.life = SimpleNamespace(
            instance="pipeline#3",
            started_at=now() - int(age * 1e9),
            leader_alive=lambda: self.alive,
            frozen=lambda: self.stands_still,
        )
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

        class Fake(Program):
            @property
            def rest(self) -> float:
                return rest

            def kill(self, how: str) -> Any:
                world.did.append(how)

            def start(self) -> None:
                world.did.append("started")

        self.program = object.__new__(Fake)
        self.program.may_be_restarted = True
        self.program.look = Look()  # type: ignore[assignment]
        self.program.supervisor = SimpleNamespace(  # type: ignore[assignment]
            life=self.life, before_again=lambda: self.did.append("cleared")
        )

    def ask(self) -> list[str]:
        recorder = SimpleNamespace(hazard=lambda name, **_: self.did.append(name))
        start_if_hung(SimpleNamespace(pipeline=self.program, recorder=recorder))  # type: ignore[arg-type]
        return self.did


def test_one_that_hangs_is_killed_cleared_and_started() -> None:
    told = f"hung: pipeline#3 wrote nothing for {SECONDS + 1:.0f} s, although inputs waited"
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
    ended.alive, paused.stands_still = False, True
    assert ended.ask() == paused.ask() == []


def test_what_nobody_looked_at_is_looked_at_first() -> None:
    written, unseen = World(), World()
    written.seen = 0.5
    unseen.away = True
    assert written.ask() == unseen.ask() == []
