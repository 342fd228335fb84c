"""SIGTERM to your program while it has inputs in hand: read, and not written yet.

Whoever commits what it has read when it is asked to end, and leaves it unwritten, loses it; one
that has nothing in hand at that moment shows nothing.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.program.inputs_in_hand import InputsInHand
from onceproof.harness.faults.program.programs import at_work, program, start_again
from onceproof.harness.faults.targets.ended import Ended
from onceproof.harness.processes.processes import Process
from onceproof.harness.wait import Overdue, wait_until

_LEAST_PAUSE: Final = 0.5
"""Seconds: one that usually pauses for less writes as it reads, and has next to nothing in hand."""
_WAIT_SECONDS: Final = 10.0
"""For how long inputs in hand are waited for, beside two of its usual pauses."""


class StoppedWithInputs(Ended):
    """A program that was asked to end, with what it had in hand."""

    def __init__(self, context: RunContext, name: str, phase: float) -> None:
        """Wait until it has read something, and has not written for a part of its usual pause.

        Raises:
            StoodStill, PipelineTrouble: as of `at_work`.
        """
        pipeline = program(context)
        self._pause = pipeline.look.pause
        in_hand = InputsInHand(context)
        try:
            at_work(context)

            def full() -> bool:
                # Looked at anew: what is no topic shows its writes only to who looks.
                return bool(
                    pipeline.commits
                    and in_hand.quiet_for >= phase * self._pause
                    and in_hand.count()
                )

            with suppress(Overdue):
                wait_until(
                    full,
                    what="", seconds=2 * self._pause + _WAIT_SECONDS, every=0.02, stop=context.stop,
                )  # fmt: skip

            def stop() -> Process:
                self._count = in_hand.count()
                return pipeline.stop(f"SIGTERM by fault «{name}»")

            super().__init__(stop, lambda: start_again(context))
        finally:
            in_hand.remove()

    def evidence(self) -> str | None:
        """Its end, and how much it had read since it last wrote; None if it had nothing in hand."""
        ended = super().evidence()
        if self._count:
            return f"{ended}; it had read {self._count} offsets of its input since it last wrote"
        if self._count is None:
            return f"{ended}; what it had read could not be seen"
        if self._pause < _LEAST_PAUSE:
            return f"{ended}; it writes as it reads"
        return None
