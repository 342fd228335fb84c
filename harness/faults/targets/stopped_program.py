"""SIGTERM to your program while it has inputs in hand: read, and not written yet.

Whoever commits what it has read when it is asked to end, and leaves it unwritten, loses it; one
that has nothing in hand at that moment shows nothing.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Final

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.base import NoEffect
from onceproof.harness.faults.program.inputs_in_hand import InputsInHand
from onceproof.harness.faults.program.phase_of_pause import PhaseOfPause
from onceproof.harness.faults.program.programs import at_work, program, start_again
from onceproof.harness.faults.targets.ended import Ended
from onceproof.harness.processes.processes import Process
from onceproof.harness.wait import Overdue, wait_until

_KEPT_SECONDS: Final = 0.5
"""One that keeps nothing in hand for longer writes as it reads."""
_WAIT_SECONDS: Final = 10.0
"""For how long inputs in hand are waited for, beside two of its usual pauses."""
_ANY_SECONDS: Final = 3.0
"""And then for any at all, if none stayed in hand for long."""


class StoppedWithInputs(Ended):
    """A program that was asked to end, with what it had in hand."""

    def __init__(self, context: RunContext, name: str, phase: float) -> None:
        """Wait until it has read something, and has not written for a part of its usual pause.

        Raises:
            StoodStill, PipelineTrouble: as of `at_work`.
        """
        pipeline = program(context)
        pause = pipeline.look.pause
        in_hand = InputsInHand(context)
        self._kept = 0.0
        try:
            at_work(context)

            def kept(far: PhaseOfPause) -> bool:
                # Looked at anew: what is no topic shows its writes only to who looks.
                some = bool(pipeline.commits and in_hand.count())
                quiet_for = in_hand.quiet_for
                reached = far.reached(quiet_for)
                if not some:
                    return False
                self._kept = max(self._kept, quiet_for)
                return reached

            for wanted, seconds in ((phase, 2 * pause + _WAIT_SECONDS), (0, _ANY_SECONDS)):
                with suppress(Overdue):
                    wait_until(
                        partial(kept, PhaseOfPause(wanted, pause)),
                        what="", seconds=seconds, every=0.02, stop=context.stop,
                    )  # fmt: skip
                    break

            def stop() -> Process:
                self._count = in_hand.count()
                return pipeline.stop(f"SIGTERM by fault «{name}»")

            super().__init__(stop, lambda: start_again(context))
        finally:
            in_hand.remove()

    def evidence(self) -> str | None:
        """Its end, and how much it had read since it last wrote.

        Raises:
            NoEffect: it had nothing in hand.
        """
        ended = super().evidence()
        if self._count:
            return f"{ended}; it had read {self._count} offsets of its input since it last wrote"
        if self._count is None:
            return f"{ended}; what it had read could not be seen"
        if self._kept < _KEPT_SECONDS:
            return f"{ended}; it writes as it reads"
        raise NoEffect(f"{ended}; it had read nothing since it last wrote")
