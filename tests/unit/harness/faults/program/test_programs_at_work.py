"""When a fault acts on a program: once it writes, at a phase of its pause between writes."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from onceproof.harness.context.pipeline import PipelineTrouble
from onceproof.harness.faults.program.programs import at_work, in_hand, running
from onceproof.harness.faults.until import Lasted
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.user_pipeline.outputs.base import UnreadableOutput
from onceproof.harness.wait import Overdue
from tests.unit.fakes.pipelines import FakeProgram, FakeSupervisor
from tests.unit.fakes.run_context import FakeContext, FakeProducers, FakeSubject


class Look:
    """Sizes and quiet times of outputs, one for each look; the last one repeats."""

    def __init__(
        self, sizes: Iterable[int | Exception], quiet: Iterable[float] = (0.0,), pause: float = 0.0
    ) -> None:
        self.sizes, self.quiet, self.pause = list(sizes), list(quiet), pause
        self.changes = 1
        self.idle = False

    def size(self) -> int:
        found = self.sizes.pop(0) if len(self.sizes) > 1 else self.sizes[0]
        if isinstance(found, Exception):
            raise found
        return found

    def still(self) -> bool:
        return self.idle

    @property
    def quiet_for(self) -> float:
        return self.quiet.pop(0) if len(self.quiet) > 1 else self.quiet[0]

    def done(self) -> tuple[int, int]:
        return self.size(), 9


def context(look: Look, *, finished: bool = False, trouble: str | None = None) -> FakeContext:
    return FakeContext(
        pipeline=FakeProgram(look, FakeSupervisor(trouble=trouble)),
        producers=FakeProducers(finished=finished),
    )


def test_waits_until_outputs_grow() -> None:
    look = Look([4, 4, UnreadableOutput("away"), 5, 9])
    at_work(context(look))
    assert look.sizes == [9], "it looked until there was more"


def test_does_not_wait_for_an_idle_program_after_the_last_input() -> None:
    look = Look([4])
    look.idle = True
    at_work(context(look, finished=True))


def test_fails_if_outputs_do_not_grow() -> None:
    with pytest.raises(Overdue, match="its outputs stayed at 4"):
        at_work(context(Look([4])))
    with pytest.raises(PipelineTrouble, match="fails over and over"):
        at_work(context(Look([4]), trouble="fails over and over"))


def test_waits_for_the_phase_of_the_pause_after_the_last_write() -> None:
    look = Look([4, 5], quiet=[0.0, 1.0, 4.9, 5.1, 9.0], pause=10.0)
    at_work(context(look), 0.5)
    assert look.quiet == [9.0], "half of ten seconds had passed"
    look = Look([4, 5], quiet=[3.0, 0.0, 1.0, 9.0], pause=10.0)
    at_work(context(look), 0.5)
    assert look.quiet == [9.0], "a write in between begins the pause again"


def test_acts_at_once_without_a_phase() -> None:
    look = Look([4, 5], quiet=[0.0, 9.0], pause=10.0)
    at_work(context(look))
    assert look.quiet == [0.0, 9.0]


def test_does_not_wait_for_a_pause_that_never_comes() -> None:
    at_work(context(Look([4, 5], quiet=[0.0], pause=0.05)), 0.8)


def test_in_hand_is_none_if_outputs_stay_unreadable() -> None:
    assert in_hand(context(Look([UnreadableOutput("away"), 4]))) == (4, 9)
    assert in_hand(context(Look([UnreadableOutput("away")]))) is None


def test_running_rejects_subjects_of_several_programs() -> None:
    other = FakeContext(subject=FakeSubject(name="Connect"))
    with pytest.raises(StageTrouble, match="Connect runs as more than one program"):
        running(other)


def test_lasted_is_reached_after_its_seconds() -> None:
    until, run_context = Lasted(seconds=12.0), FakeContext()
    begun = until.begin(run_context)
    run_context.stop.pause(11.75)
    assert not until.reached(run_context, begun)
    run_context.stop.pause(0.25)
    assert until.reached(run_context, begun)
    assert until.describe() == "12 s have passed"
