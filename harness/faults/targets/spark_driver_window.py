"""Kill the Spark driver in a window of a micro-batch.

The fault stays armed until it has hit. Once the driver is dead, the batch's records with effects in
the sink prove the window. The hazard is a rerun of a batch with effects but no commit, or with a
partly committed state, which must be rolled back first.
"""

from __future__ import annotations

from typing import Final

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.spark.driver import driver, sink_of_batches, wait_reads
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.subjects.crash_point_trigger import StruckProcess
from onceproof.harness.subjects.spark.checkpoint import BatchState
from onceproof.harness.subjects.spark.crash_points import (
    BEFORE_SINK_COMMIT,
    DURING_SINK_WRITE,
    DURING_STATE_COMMIT,
    Window,
)

_BEFORE_LOGGED: Final = (DURING_SINK_WRITE, BEFORE_SINK_COMMIT)
"""Windows in which a sink with its own log has no entry for the batch."""


class KilledInWindow:
    """A driver that is killed in a window, once its trigger has hit."""

    def __init__(self, context: RunContext, name: str, window: Window) -> None:
        self._context = context
        self._name = name
        self._window = window
        self._driver = driver(context)
        if context.subject.balances and window is not DURING_STATE_COMMIT:
            raise StageTrouble(
                f"{context.subject.name} writes balances, which do not show the payments they "
                f"include: {window.name} cannot be proved; use {DURING_STATE_COMMIT.name}"
            )
        if window is BEFORE_SINK_COMMIT and self._driver.sink_log is None:
            raise StageTrouble(
                f"{window.name} needs a sink with a log, which {context.subject.name} does not "
                "have; use after-sink-write"
            )
        self.target = "driver"
        self.at: int | None = None
        self._trigger = self._driver.crash_point_trigger(
            window, sink_of_batches(context), f"SIGKILL by fault «{name}»"
        )
        self._hit: StruckProcess | None = None
        self._present = self._planned = 0
        self._state: BatchState | None = None
        self._proof: str | None = None

    def evidence(self) -> str | None:
        if self._trigger.error is not None:
            raise self._trigger.error
        if self._hit is None and (hit := self._trigger.hit) is not None:
            self._hit = hit
            self.target = hit.instance
            self.at = hit.at
            # Look again now that it is dead and its last writes have arrived.
            self._present, self._planned = sink_of_batches(self._context).of(hit.number)
            checkpoint = self._driver.checkpoint
            self._state = checkpoint.state_of(hit.number)
            committed = hit.number in checkpoint.committed()
            if (
                committed is self._window.committed
                and self._window.holds(self._present, self._planned)
                and self._window.state(*self._state.progress)
            ):
                self._proof = self._describe(hit, self._state)
        return self._proof

    def heal(self) -> None:
        """Restart it, and wait until the interrupted batch is committed."""
        pipeline = self._driver
        self._trigger.end()
        hit = self._hit or self._trigger.hit
        if hit is None:
            return  # it was never killed
        if not pipeline.alive():  # an earlier attempt may have started it
            pipeline.start()
        if self._window.committed:
            wait_reads(self._context)
            return
        pipeline.wait_batch(hit.number, seconds=150)
        if self._proof is None:
            return  # it may have been committed just before, and then it never ran again
        if self._window is DURING_STATE_COMMIT:
            self._note_state(hit)
        if self._present:
            # For log-following readers, an unlogged batch is not a replay.
            unlogged = pipeline.sink_log is not None and self._window in _BEFORE_LOGGED
            self._context.recorder.hazard(
                "interrupted-write" if unlogged else "replayed-batch",
                hop="process",
                fault=self._name,
                owner=pipeline.checkpoint.query_id(),
                batch=hit.number,
                detail=f"micro-batch {hit.number} ran again after {self._visible()} in the sink",
            )

    def _note_state(self, hit: StruckProcess) -> None:
        """Record the hazard if state partitions that were committed before were committed again."""
        if self._state is None:
            return  # hit, but not proved, so the fault does not count
        done, partitions = self._state.progress
        checkpoint = self._driver.checkpoint
        if anew := self._state.anew(checkpoint.state_of(hit.number)):
            self._context.recorder.hazard(
                "half-committed-state",
                hop="process",
                fault=self._name,
                owner=checkpoint.query_id(),
                batch=hit.number,
                detail=(
                    f"micro-batch {hit.number} ran again after {done} of {partitions} state "
                    f"partitions had been committed as version {self._state.version}; {anew} of "
                    "these were committed again"
                ),
            )

    def _describe(self, hit: StruckProcess, state: BatchState) -> str:
        missed = f", after {hit.misses} missed attempts" if hit.misses else ""
        commit = "was committed" if self._window.committed else "had no commit"
        if self._window is DURING_STATE_COMMIT:
            done, partitions = state.progress
            return (
                f"{hit.instance} and all its {hit.processes} processes ended by signal 9; {done} "
                f"of {partitions} state partitions had version {state.version}, that of "
                f"micro-batch {hit.number} with its {self._planned} records, and the batch "
                f"{commit}{missed}"
            )
        if not self._context.subject.sinks:
            has = "rows" if self._present else "no rows"
            sink = (
                f"the sink had {has} of micro-batch {hit.number} with its {self._planned} records"
            )
        else:
            sink = (
                f"the sink had {self._present} of the {self._planned} records of micro-batch "
                f"{hit.number}"
            )
        return (
            f"{hit.instance} and all its {hit.processes} processes ended by signal 9; {sink}, and "
            f"the batch {commit}{missed}"
        )

    def _visible(self) -> str:
        if not self._context.subject.sinks:
            return "its rows were visible"
        return f"{self._present} of its {self._planned} effects were visible"
