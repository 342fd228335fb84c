"""Carry out a schedule: each fault waits for its trigger, acts, waits for its end, and is healed.

Faults run in parallel, each on its own thread, ordered only by their triggers. A fault that fails
is recorded with its error, which makes the run invalid; it is healed and the others continue.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import partial

from onceproof.harness.context.run_context import Collected, RunContext
from onceproof.harness.faults.program.programs import NoProgress, clear
from onceproof.harness.links.topology import Link
from onceproof.harness.schedule.fault_execution import FaultExecution
from onceproof.harness.schedule.scenario import ScheduledFault
from onceproof.harness.user_pipeline.program import Program
from onceproof.harness.wait import wait_until

TRIGGER_SECONDS = 300.0
_PAUSE = 0.2
_LOOK_EVERY = 1.0
"""Seconds between two checks that the stage still answers."""


class Conductor:
    """The schedule of one run."""

    def __init__(self, schedule: Sequence[ScheduledFault], context: RunContext) -> None:
        self._context = context
        self.executions = [FaultExecution(at, context) for at in schedule]
        if isinstance(context.pipeline, Program):
            # A program that ends by itself leaves group members behind, like a killed one.
            context.pipeline.supervisor.before_again = partial(clear, context)
            context.pipeline.may_be_restarted = any(at.hazard for at in schedule)
        self._by_name = {execution.at.name: execution for execution in self.executions}

    def announce(self) -> None:
        """Record every fault as planned, so that one that is never reached is in the history too.

        Also place the gates before records flow: placing one closes the connections of its link,
        which would be a disturbance later.

        Raises:
            StageTrouble: a link cannot have a gate.
        """
        for execution in self.executions:
            execution.record("planned", execution.at.do.describe(), quiet=True)
        for audience in dict.fromkeys(
            a for execution in self.executions for a in execution.at.gated
        ):
            for node in self._context.stage.brokers:
                self._context.stage.gate(Link(audience, node))

    def carry_out(self) -> None:
        """Carry out the schedule; return when every fault is over.

        Raises:
            Interrupted: the run was asked to stop.
            HistoryNotWritten: the history cannot be written.
        """
        threads = [
            threading.Thread(
                target=execution.run,
                args=(
                    partial(self._wait_trigger, execution.at),
                    partial(self._tries, execution.at),
                ),
                daemon=True,
            )
            for execution in self.executions
        ]
        self._context.producers.pace.keep_for(len(self.executions))
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive() and not self._context.stop.is_set():
                thread.join(0.1)
                self._context.producers.pace.keep_for(
                    sum(not execution.over.is_set() for execution in self.executions)
                )
        for execution in self.executions:
            if execution.fatal is not None:
                raise execution.fatal
        self._context.stop.check()

    def after_collect(self, known: Collected) -> None:
        for execution in self.executions:
            execution.after_collect(known)

    def _tries(self, at: ScheduledFault) -> int:
        """Try only once if another fault has already failed to cause the same hazard."""
        missed = any(
            execution.missed for execution in self.executions if execution.at.hazard == at.hazard
        )
        return 1 if missed else at.tries

    def _wait_trigger(self, at: ScheduledFault) -> None:
        """Wait for the earlier faults, each of which has its own deadlines, then for progress.

        Raises:
            NoProgress: an earlier fault has found that the pipeline writes nothing more. Later
                faults would have no effect, and together would wait for hours.
        """
        for name in at.after:
            while not self._by_name[name].over.wait(_PAUSE):
                self._context.stop.check()
        for execution in self.executions:
            if execution.stood_still:
                raise NoProgress(f"the pipeline has written nothing since «{execution.at.name}»")
        last_look = self._context.stop.monotonic()

        def reached() -> bool:
            nonlocal last_look
            if self._context.stop.monotonic() - last_look >= _LOOK_EVERY:
                # Without its proxies nothing moves: fail now instead of at the deadline.
                self._context.stage.disturbed()
                last_look = self._context.stop.monotonic()
            return self._context.producers.progress >= at.progress

        wait_until(
            reached,
            what=f"the trigger of «{at.name}»: {at.when()}",
            seconds=TRIGGER_SECONDS,
            stop=self._context.stop,
            seen=lambda: f"progress {self._context.producers.progress:.0%}",
        )
