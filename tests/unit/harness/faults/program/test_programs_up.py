"""A program that is started again counts as up once its URL says so."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from onceproof.harness.context.pipeline import PipelineTrouble
from onceproof.harness.faults.program.programs import StoodStill, wait_works
from onceproof.harness.user_pipeline.health import Health
from tests.unit.fakes.pipelines import FakeProgram, FakeSupervisor
from tests.unit.fakes.run_context import FakeContext, FakeProducers


class Answers(Health):
    """A URL that answers with these, the last one for good."""

    def __init__(self, *answers: int) -> None:
        super().__init__(())
        self.answers = list(answers)

    def look(self) -> bool:
        status = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        self.seen = f"http://here/up answered {status}"
        return status == 200


class Look(SimpleNamespace):
    """Outputs that have grown each time somebody looks."""

    def __init__(self) -> None:
        super().__init__(looks=0)

    def size(self) -> int:
        self.looks += 1
        return int(self.looks)

    def arrived(self) -> tuple[int, int, str]:
        return 1, 0, ""


def context(health: Health, trouble: str | None = None) -> FakeContext:
    program = FakeProgram(Look(), FakeSupervisor(trouble=trouble))
    program.health = health
    return FakeContext(pipeline=program, producers=FakeProducers())


def test_nobody_looks_at_its_outputs_before_it_is_up() -> None:
    health = Answers(503, 503, 200)
    made = context(health)
    wait_works(made)
    assert health.answers == [200]
    assert made.pipeline.look.looks == 2  # type: ignore[attr-defined]


def test_one_that_does_not_come_up_stands_still_and_it_is_told_what_was_seen() -> None:
    seen = "the pipeline to be up; last seen: http://here/up answered 503"
    with pytest.raises(StoodStill, match=f"waited 90 s for {seen}"):
        wait_works(context(Answers(503)))


def test_one_that_fails_over_and_over_is_not_waited_for() -> None:
    with pytest.raises(PipelineTrouble, match="over and over"):
        wait_works(context(Answers(503), trouble="it failed over and over"))


def test_records_flow_only_through_one_that_is_up() -> None:
    program = context(Answers(503, 200)).pipeline
    assert not program.flows()
    assert program.shortly() == "it is not healthy: http://here/up answered 503"
    assert program.flows()
