"""Send odd records to the input of the pipeline, or wait for them among the made-up orders."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar, Final

from onceproof.harness.clock import now
from onceproof.harness.context.pipeline import Positions
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.program.programs import at_work, program, wait_works
from onceproof.harness.subjects.spark.subject import DRIVER
from onceproof.harness.user_pipeline.odd_records import found_odd, send_odd
from onceproof.harness.user_pipeline.profile import ODD
from onceproof.harness.user_pipeline.program import AWAY, PROGRAM
from onceproof.harness.wait import Overdue, wait_until

_SECONDS: Final = 60.0
_EVERY: Final = 1.0


@dataclass(frozen=True, kw_only=True)
class OddInput:
    """Send odd records to every partition of the input, or wait for them.

    Attributes:
        records: their kind, a key of `ODD`.
        orders: whether they come with the made-up orders, instead of being sent.
        phase: how long after a write to send them; see `at_work`.
        spark: whether the pipeline is a Spark job, whose committed offsets must pass them.
    """

    kind: ClassVar[str] = "timeout"
    records: str
    orders: bool = False
    phase: float = 0.0
    spark: bool = False

    @property
    def needs(self) -> str:
        return DRIVER if self.spark else PROGRAM

    def describe(self) -> str:
        if self.orders:
            return f"wait for {ODD[self.records]} among the orders"
        return f"send {ODD[self.records]} to every partition of the input"

    def inject(self, context: RunContext, name: str) -> _Arrived:
        if not self.orders:
            at_work(context, self.phase)
            return self._wait_read(context, send_odd(context, self.records))
        ends = wait_until(
            lambda: found_odd(program(context).look.input_logs(), self.records),
            what=f"{ODD[self.records]} in the input",
            seconds=_SECONDS,
            every=_EVERY,
            stop=context.stop,
        )
        return self._wait_read(context, ends)

    def is_past(self, context: RunContext, ends: Positions) -> Callable[[], bool]:
        """Return a function that tells whether the pipeline has passed some offsets."""
        if not self.spark:
            return program(context).look.getting_past(ends)
        pipeline = context.pipeline

        def passed() -> bool:
            at = pipeline.positions() or {}
            return all(at.get(place, 0) >= end for place, end in ends.items())

        return passed

    def _wait_read(self, context: RunContext, ends: Positions) -> _Arrived:
        """Wait until the pipeline has passed them, as long as it makes progress."""
        arrived = _Arrived(context, self, ends)
        reached = None if self.spark else program(context).reached
        with suppress(Overdue):
            wait_until(
                arrived.evidence,
                what="",
                seconds=_SECONDS,
                every=_EVERY,
                stop=context.stop,
                reached=reached,
            )
        return arrived


class _Arrived:
    def __init__(self, context: RunContext, fault: OddInput, ends: Positions) -> None:
        self._context, self._fault = context, fault
        self.target = " and ".join(f"topic {topic}" for topic in context.inputs)
        self.at = now()
        self._is_past = fault.is_past(context, ends)
        self._proof: str | None = None

    def evidence(self) -> str | None:
        """Return proof that inputs after them have effects, or were committed by a Spark job."""
        if self._proof is None and self._passed():
            after = (
                "its batches went past them"
                if self._fault.spark
                else ("the records after it had effects")
            )
            self._proof = f"{ODD[self._fault.records]} arrived in {self.target}; {after}"
        return self._proof

    def _passed(self) -> bool:
        try:
            return self._is_past()
        except AWAY:
            return False

    def heal(self) -> None:
        wait_works(self._context)
