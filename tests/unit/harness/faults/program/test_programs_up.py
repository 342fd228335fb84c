"""A restarted program is up once its health URL answers with success."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from onceproof.harness.context.pipeline import PipelineTrouble
from onceproof.harness.faults.program.programs import NoProgress, wait_works
from onceproof.harness.user_pipeline.health import Health
from tests.unit.fakes.pipelines import FakeProgram, FakeSupervisor
from tests.unit.fakes.run_context import FakeContext, FakeProducers


class FakeHealth(Health):
    """Answers with these statuses; the last one repeats."""

    def __init__(self, *answers: int) -> None:
        super().__init__(())
        self.answers = list(answers)

    def look(self) -> bool:
        status = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        self.seen = f"http://here/up answered {status}"
        return status == 200


class Look(SimpleNamespace):
    """Outputs that grow with every look."""

    def __init__(self) -> None:
        super().__init__(looks=0)

    def size(self) -> int:
        self.looks += 1
        return int(self.looks)

    def arrived(self) -> tuple[int, int, str]:
        return 1, 0, ""


def new_context(health: Health, trouble: str | None = None) -> FakeContext:
    program = FakeProgram(Look(), FakeSupervisor(trouble=trouble))
    program.health = health
    return FakeContext(pipeline=program, producers=FakeProducers())


def test_reads_outputs_only_after_the_program_is_up() -> None:
    health = FakeHealth(503, 503, 200)
    context = new_context(health)
    wait_works(context)
    assert health.answers == [200]
    assert context.pipeline.look.looks == 2  # type: ignore[attr-defined]


def test_wait_works_reports_the_last_answer_of_an_unhealthy_program() -> None:
    seen = "the pipeline to be up; last seen: http://here/up answered 503"
    with pytest.raises(NoProgress, match=f"waited 90 s for {seen}"):
        wait_works(new_context(FakeHealth(503)))


def test_wait_works_raises_for_a_repeatedly_failing_program() -> None:
    with pytest.raises(PipelineTrouble, match="over and over"):
        wait_works(new_context(FakeHealth(503), trouble="it failed over and over"))


def test_records_flow_only_through_a_healthy_program() -> None:
    program = new_context(FakeHealth(503, 200)).pipeline
    assert not program.flows()
    assert program.shortly() == "it is not healthy: http://here/up answered 503"
    assert program.flows()
