"""Send SIGTERM to your program while it has unprocessed inputs: read, but not yet written.

A program that then commits their offsets without writing loses them. One that writes as it reads
has many in hand only after a backlog, so its reads are held back for a while.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.base import NoEffect
from onceproof.harness.faults.messages.message import AtGates
from onceproof.harness.faults.program.inputs_in_hand import FETCH, InputsInHand
from onceproof.harness.faults.program.phase_of_pause import PhaseOfPause
from onceproof.harness.faults.program.programs import at_work, program, start_again
from onceproof.harness.faults.targets.ended import EndedProcess
from onceproof.harness.processes.processes import Process
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.wait import Overdue, wait_until

_KEPT_SECONDS: Final = 0.5
"""A program that keeps inputs for less time writes as it reads."""
_WAIT_SECONDS: Final = 10.0
"""Maximum wait for inputs in hand, in addition to two usual pauses."""
_GATHER_SECONDS: Final = 1.5
"""How long a program that writes as it reads gets no inputs, so that the next read brings many."""
_ANY_SECONDS: Final = 2.0
"""Maximum wait after that for any inputs in hand, however briefly held."""
_READ_SECONDS: Final = 0.01
"""Time to read a response from the socket: a gate reports it before it is forwarded."""
_TRIES: Final = 3


class StoppedWithInputs(EndedProcess):
    """A program that was stopped with inputs in hand."""

    def __init__(self, context: RunContext, name: str, phase: float) -> None:
        """Wait until it has inputs in hand and has been quiet for a fraction of its pause; stop it.

        If it keeps none for that long, withhold its reads for a while, so that the next one brings
        many, and suspend it before it has processed them.

        Raises:
            NoProgress, PipelineTrouble: as for `at_work`.
        """
        pipeline = program(context)
        pause = pipeline.look.pause
        in_hand = InputsInHand(context)
        self._kept = 0.0
        try:
            at_work(context)
            far = PhaseOfPause(phase, pause)

            def kept() -> bool:
                # Look again: outputs that are not topics show writes only when they are read.
                some = bool(pipeline.commits and in_hand.count())
                quiet_for = in_hand.quiet_for
                reached = far.reached(quiet_for)
                if not some:
                    return False
                self._kept = max(self._kept, quiet_for)
                return reached

            try:
                wait_until(
                    kept, what="", seconds=2 * pause + _WAIT_SECONDS, every=0.02, stop=context.stop
                )
            except Overdue:
                if in_hand.count() is not None:
                    self._suspend_with_many(context, in_hand)

            def stop() -> Process:
                self._count = in_hand.count()
                return pipeline.stop(f"SIGTERM by fault «{name}»")

            super().__init__(stop, lambda: start_again(context))
        except BaseException:
            if (life := pipeline.supervisor.life) is not None:
                life.thaw()
            raise
        finally:
            in_hand.remove()

    def _suspend_with_many(self, context: RunContext, in_hand: InputsInHand) -> None:
        """Withhold inputs for a while, then suspend the program once it has read them.

        It keeps them for milliseconds, so what it has is counted while it is suspended. SIGTERM
        resumes it.
        """
        for _ in range(_TRIES):
            reads = AtGates(context, FETCH.source, FETCH.rule("hold", times=None))
            try:
                context.stop.pause(_GATHER_SECONDS)
            finally:
                reads.remove()
            with suppress(Overdue):
                wait_until(
                    in_hand.count, what="", seconds=_ANY_SECONDS, every=0.001, stop=context.stop
                )
                context.stop.pause(_READ_SECONDS)
                process = program(context).supervisor.running()
                try:
                    process.pause(context.stop)
                except StageTrouble:  # a service that only commands control
                    return
                if in_hand.count():
                    return
                process.thaw()

    def evidence(self) -> str | None:
        """Return its end, and how much it had read since its last write.

        Raises:
            NoEffect: it had no inputs in hand.
        """
        ended = super().evidence()
        if self._count:
            return f"{ended}; it had read {self._count} offsets of its input since it last wrote"
        if self._count is None:
            return f"{ended}; its fetches could not be observed"
        if self._kept < _KEPT_SECONDS:
            return f"{ended}; it writes as it reads"
        raise NoEffect(f"{ended}; it had read nothing since it last wrote")
