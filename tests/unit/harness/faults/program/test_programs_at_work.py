"""When a fault acts on a program: once it writes, at some point of its pause between two writes."""

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
    """Sizes of its outputs, look by look, and for how long they had not changed; the last lasts."""

    def __init__(
        self, sizes: Iterable[int | Exception], quiet: Iterable[float] = (0.0,), pause: float = 0.0
    ) -> None:
        self.sizes, self.quiet, self.pause = list(sizes), list(quiet), pause
        self.changes = 1
        self.stands = False

    def size(self) -> int:
        found = self.sizes.pop(0) if len(self.sizes) > 1 else self.sizes[0]
        if isinstance(found, Exception):
            raise found
        return found

    def still(self) -> bool:
        return self.stands

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


def test_it_is_at_work_once_something_new_comes_out() -> None:
    look = Look([4, 4, UnreadableOutput("away"), 5, 9])
    at_work(context(look))
    assert look.sizes == [9], "it looked until there was more"


def test_one_that_has_nothing_left_to_do_is_not_waited_for() -> None:
    look = Look([4])
    look.stands = True
    at_work(context(look, finished=True))


def test_one_that_writes_nothing_is_not_at_work() -> None:
    with pytest.raises(Overdue, match="its outputs stayed at 4"):
        at_work(context(Look([4])))
    with pytest.raises(PipelineTrouble, match="fails over and over"):
        at_work(context(Look([4]), trouble="fails over and over"))


def test_it_acts_at_a_part_of_the_pause_between_two_writes() -> None:
    look = Look([4, 5], quiet=[0.0, 1.0, 4.9, 5.1, 9.0], pause=10.0)
    at_work(context(look), 0.5)
    assert look.quiet == [9.0], "half of ten seconds had passed"
    look = Look([4, 5], quiet=[3.0, 0.0, 1.0, 9.0], pause=10.0)
    at_work(context(look), 0.5)
    assert look.quiet == [9.0], "a write in between begins the pause again"


def test_without_a_phase_it_acts_at_once() -> None:
    look = Look([4, 5], quiet=[0.0, 9.0], pause=10.0)
    at_work(context(look))
    assert look.quiet == [0.0, 9.0]


def test_one_that_pauses_no_more_is_not_waited_for() -> None:
    at_work(context(Look([4, 5], quiet=[0.0], pause=0.05)), 0.8)


def test_how_much_was_in_hand_is_unknown_where_nobody_can_look() -> None:
    assert in_hand(context(Look([UnreadableOutput("away"), 4]))) == (4, 9)
    assert in_hand(context(Look([UnreadableOutput("away")]))) is None


def test_only_a_single_program_is_struck() -> None:
    other = FakeContext(subject=FakeSubject(name="Connect"))
    with pytest.raises(StageTrouble, match="Connect runs as more than one program"):
        running(other)


def test_it_lasts_for_some_seconds() -> None:
    until, anyone = Lasted(seconds=12.0), FakeContext()
    begun = until.begin(anyone)
    anyone.stop.pause(11.75)
    assert not until.reached(anyone, begun)
    anyone.stop.pause(0.25)
    assert until.reached(anyone, begun)
    assert until.describe() == "12 s have passed"
