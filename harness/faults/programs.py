"""What faults of a program of somebody's own have in common: it, and seeing that it works."""

from __future__ import annotations

from harness.bench import Bench
from harness.own.program import AWAY, Program
from harness.stage.base import StageTrouble
from harness.wait import wait_until

_SECONDS = 150.0


def program(bench: Bench) -> Program:
    """The pipeline as what it must be for a fault that needs a `program`.

    Raises:
        StageTrouble: what is on trial is none.
    """
    if not isinstance(bench.pipeline, Program):
        raise StageTrouble(f"{bench.subject.name} is no program of somebody's own")
    return bench.pipeline


def at_work(bench: Bench) -> None:
    """Wait until something new has come into its outputs, so that it is not idle.

    Raises:
        Overdue: nothing comes.
        PipelineTrouble: it fails over and over.
    """
    _grows(bench, "something new to come into the pipeline's outputs")


def wait_works(bench: Bench) -> None:
    """Wait until it writes again, unless there is nothing left for it to do.

    Raises:
        Overdue, PipelineTrouble: as of `at_work`.
    """
    _grows(bench, "the pipeline to write again")


def _grows(bench: Bench, what: str) -> None:
    look = program(bench).look
    before: int | None = None

    def grown() -> bool:
        nonlocal before
        bench.pipeline.check()
        try:
            size = look.size()
            if before is None:
                before = size
            if size != before:
                return True
            if not look.still():
                return False
            done, there = look.done()
        except AWAY:
            return False
        return bench.producers.finished and done == there

    wait_until(
        grown,
        what=what,
        seconds=_SECONDS,
        every=0.1,
        stop=bench.stop,
        seen=lambda: f"its outputs stood at {before}",
    )
