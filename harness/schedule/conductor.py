"""Carrying out a schedule: each line waits for its trigger, acts, waits for its end, heals.

Lines run side by side, each on a thread of its own, and are ordered only by
what their triggers say. A line that fails is recorded with its error, which makes the run invalid;
it is healed all the same, and the others go on.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import partial

from onceproof.harness.context.run_context import Collected, RunContext
from onceproof.harness.faults.program.programs import StoodStill, clear
from onceproof.harness.links.topology import Link
from onceproof.harness.schedule.fault_execution import FaultExecution
from onceproof.harness.schedule.scenario import ScheduledFault
from onceproof.harness.user_pipeline.program import Program
from onceproof.harness.wait import wait_until

TRIGGER_SECONDS = 300.0
_PAUSE = 0.2
_LOOK_EVERY = 1.0
"""Seconds between two looks whether the stage can still be asked."""


class Conductor:
    """The schedule of one run."""

    def __init__(self, schedule: Sequence[ScheduledFault], context: RunContext) -> None:
        self._context = context
        self._lines = [FaultExecution(at, context) for at in schedule]
        if isinstance(context.pipeline, Program):
            # One that ends by itself leaves members behind as one that is killed does.
            context.pipeline.supervisor.before_again = partial(clear, context)
            context.pipeline.may_be_restarted = any(at.hazard for at in schedule)
        self._by_name = {line.at.name: line for line in self._lines}

    def announce(self) -> None:
        """Record every line before anything is done, so that one never reached is not forgotten.

        Gates are put in place too, before anything flows: that closes a link's connections, which
        must not disturb anybody when the time has come for something else.

        Raises:
            StageTrouble: a link cannot have a gate.
        """
        for line in self._lines:
            line.record("planned", line.at.do.describe(), quiet=True)
        for audience in dict.fromkeys(a for line in self._lines for a in line.at.gated):
            for node in self._context.stage.brokers:
                self._context.stage.gate(Link(audience, node))

    def carry_out(self) -> None:
        """Carry out the whole schedule; returns when every line is over.

        Raises:
            Interrupted: the run was asked to stop.
            HistoryNotWritten: the history cannot be written.
        """
        threads = [
            threading.Thread(
                target=line.run,
                args=(partial(self._wait_trigger, line.at), partial(self._tries, line.at)),
                daemon=True,
            )
            for line in self._lines
        ]
        self._context.producers.pace.keep_for(len(self._lines))
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive() and not self._context.stop.is_set():
                thread.join(0.1)
                self._context.producers.pace.keep_for(
                    sum(not line.over.is_set() for line in self._lines)
                )
        for line in self._lines:
            if line.fatal is not None:
                raise line.fatal
        self._context.stop.check()

    def after_collect(self, known: Collected) -> None:
        for line in self._lines:
            line.after_collect(known)

    def _tries(self, at: ScheduledFault) -> int:
        """Once is enough for what was tried so often before, and never met."""
        missed = any(line.missed for line in self._lines if line.at.hazard == at.hazard)
        return 1 if missed else at.tries

    def _wait_trigger(self, at: ScheduledFault) -> None:
        """Wait for the earlier lines, each of which has deadlines of its own, then for progress.

        Raises:
            StoodStill: one of them has found that the pipeline does: nothing that comes now would
                meet it at work, and all lines together would wait for hours.
        """
        for name in at.after:
            while not self._by_name[name].over.wait(_PAUSE):
                self._context.stop.check()
        for line in self._lines:
            if line.stood_still:
                raise StoodStill(f"the pipeline has written nothing since «{line.at.name}»")
        looked = self._context.stop.monotonic()

        def come() -> bool:
            nonlocal looked
            if self._context.stop.monotonic() - looked >= _LOOK_EVERY:
                # Without its proxies nothing moves: better to hear of that than to wait in vain.
                self._context.stage.disturbed()
                looked = self._context.stop.monotonic()
            return self._context.producers.progress >= at.progress

        wait_until(
            come,
            what=f"the trigger of «{at.name}»: {at.when()}",
            seconds=TRIGGER_SECONDS,
            stop=self._context.stop,
            seen=lambda: f"progress {self._context.producers.progress:.0%}",
        )
