"""Execute a run phase by phase.

arrange → warm-up → disturb → heal → settle → collect → tear-down

The run is judged only after tear-down, and from its folder alone, as `onceproof check` does later.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from onceproof.harness.clock import now
from onceproof.harness.context.pipeline import PipelineTrouble
from onceproof.harness.context.recorder import MayStillWrite, Recorder, Stalled
from onceproof.harness.context.run_context import Collected, RunContext
from onceproof.harness.faults.cluster.rejoin import wait_in_sync
from onceproof.harness.history import events
from onceproof.harness.history.folder import RunFolder
from onceproof.harness.history.writer import HistoryNotWritten
from onceproof.harness.processes.sweep import new_marker
from onceproof.harness.run.arrange import RunAssembly
from onceproof.harness.run.collect import collect
from onceproof.harness.run.progress import emit_progress
from onceproof.harness.schedule.conductor import Conductor
from onceproof.harness.schedule.scenario import Scenario, ScheduledFault
from onceproof.harness.settle import settle
from onceproof.harness.stage.backends import LOCAL
from onceproof.harness.tools.setup import Tools
from onceproof.harness.wait import Interrupted, Stop, wait_until

WARM_UP_SECONDS = 150.0


class Conducting(Protocol):
    """Injects the faults of a run."""

    def announce(self) -> None: ...

    def carry_out(self) -> None:
        """Inject the faults; return when all are over and healed."""

    def after_collect(self, known: Collected) -> None:
        """Have every fault record the hazards that are known only after collecting."""


Conduct = Callable[[Sequence[ScheduledFault], RunContext], Conducting]


class Run:
    """One execution of one scenario."""

    def __init__(
        self,
        scenario: Scenario,
        *,
        seed: int,
        runs: Path,
        tools: Tools,
        handlers: Sequence[events.Handler],
        stop: Stop,
        repeat: str,
        conduct: Conduct = Conductor,
        remove: Sequence[Path] = (),
        backend: str = LOCAL,
    ) -> None:
        """Make the run folder, without starting anything.

        Args:
            conduct: creates the object that carries out the schedule.

        Raises:
            OSError: the folder cannot be made.
        """
        self.scenario = scenario
        self.seed = seed
        self.folder = RunFolder.create(runs, scenario.name, seed)
        self.repeat = repeat
        self._conduct = conduct
        self._remove = tuple(remove)
        self._backend = backend
        self._tools = tools
        self._stop = stop
        self._recorder = Recorder(self.folder.history, handlers)
        self._marker = new_marker()

    def execute(self) -> None:
        """Execute all phases, then seal the history.

        An error in a phase is recorded in the history with the phase and not raised.

        Raises:
            HistoryNotWritten: the history cannot be written; what was written is kept.
        """
        with self._stop.in_order():
            self._record()
        self.folder.seal()

    def _record(self) -> None:
        recorder = self._recorder
        try:
            parts = RunAssembly(
                scenario=self.scenario,
                seed=self.seed,
                folder=self.folder,
                tools=self._tools,
                recorder=recorder,
                stop=self._stop,
                marker=self._marker,
                repeat=self.repeat,
                remove=self._remove,
                backend=self._backend,
            )
        except BaseException:
            # Nothing was started, and a folder without a record could not be judged or cleaned.
            recorder.close()
            shutil.rmtree(self.folder.path, ignore_errors=True)
            raise
        recorder.emit(
            events.RunStarted(
                at=now(),
                run=self.folder.path.name,
                folder=self.folder.path,
                scenario=self.scenario.name,
                title=self.scenario.title,
                seed=self.seed,
            )
        )
        try:
            self._phases(parts)
        except HistoryNotWritten:
            raise
        except (Interrupted, Exception):
            pass  # recorded by the phase that it ended, see `Recorder.phase`
        finally:
            self._tear_down(parts)

    def _tear_down(self, parts: RunAssembly) -> None:
        """End everything, even if the history cannot be written."""
        try:
            with self._recorder.phase("tear-down"):
                parts.tear_down()
        except Exception:
            # Recorded by the phase; or the phase could not be recorded and nothing is torn down.
            with suppress(Exception):
                parts.tear_down()
        finally:
            parts.remove()
            self._recorder.close()

    def _phases(self, parts: RunAssembly) -> None:
        phase = self._recorder.phase
        with phase("arrange"):
            context = parts.arrange()
            conductor = self._conduct(self.scenario.schedule, context)
            conductor.announce()
        unsettled: Stalled | MayStillWrite | None = None
        with emit_progress(context):
            with phase("warm-up"):
                parts.start_workload()
                self._warm_up(context)
            try:
                with phase("disturb"):
                    conductor.carry_out()
                    _alive(context)
                with phase("heal"):
                    self._heal(context)
                with phase("settle"):
                    settle(context)
            except (Stalled, MayStillWrite) as reason:
                # Effects of an unsettled pipeline can still prove a violation, such as a duplicate.
                unsettled = reason
        with phase("collect"):
            conductor.after_collect(collect(context, self.folder.history))
        if unsettled is not None:
            raise unsettled

    def _warm_up(self, context: RunContext) -> None:
        context.pipeline.start()
        if self.scenario.workload.records == 0:
            return

        def flows() -> bool:
            context.producers.check()
            context.pipeline.check()
            return context.producers.acknowledged > 0 and context.pipeline.flows()

        wait_until(
            flows,
            what=f"a first record to be acknowledged, and {context.pipeline.awaited}",
            seconds=WARM_UP_SECONDS,
            stop=self._stop,
            seen=lambda: (
                f"{context.producers.acknowledged} records acknowledged, "
                f"{context.pipeline.shortly() or 'nothing committed'}"
            ),
        )
        context.producers.pace.warmed_up()

    def _heal(self, context: RunContext) -> None:
        """Wait until nodes are up, toxics are removed and every replica is in sync."""
        wait_until(
            lambda: not context.stage.disturbed(),
            what="every fault to be healed",
            seconds=10,
            stop=self._stop,
            seen=context.stage.disturbed,
        )
        wait_in_sync(context)


def _alive(context: RunContext) -> None:
    """Raise `Stalled` if the pipeline ended by itself, which is not the harness's failure."""
    try:
        context.pipeline.check()
    except PipelineTrouble as error:
        raise Stalled(str(error)) from error
