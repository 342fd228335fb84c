"""Send odd records to the input of the pipeline, or wait for them among the made-up orders."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar, Final

from onceproof.harness.clock import now
from onceproof.harness.context.pipeline import Positions
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.program.programs import at_work, program, wait_works
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
    """

    kind: ClassVar[str] = "timeout"
    needs = PROGRAM
    records: str
    orders: bool = False
    phase: float = 0.0

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

    def _wait_read(self, context: RunContext, ends: Positions) -> _Arrived:
        """Wait until the pipeline has passed them, as long as it makes progress."""
        arrived = _Arrived(context, self.records, ends)
        with suppress(Overdue):
            wait_until(
                arrived.evidence,
                what="",
                seconds=_SECONDS,
                every=_EVERY,
                stop=context.stop,
                reached=program(context).reached,
            )
        return arrived


class _Arrived:
    def __init__(self, context: RunContext, kind: str, ends: Positions) -> None:
        self._context, self._kind = context, kind
        self.target = " and ".join(f"topic {topic}" for topic in context.inputs)
        self.at = now()
        self._is_past = program(context).look.getting_past(ends)
        self._proof: str | None = None

    def evidence(self) -> str | None:
        """Return proof that inputs after them have effects."""
        if self._proof is None and self._passed():
            self._proof = (
                f"{ODD[self._kind]} arrived in {self.target}; the records after it had effects"
            )
        return self._proof

    def _passed(self) -> bool:
        try:
            return self._is_past()
        except AWAY:
            return False

    def heal(self) -> None:
        wait_works(self._context)
