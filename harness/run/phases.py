"""One run, phase by phase: this file reads like the paragraph in the design.

arrange → warm-up → disturb → heal → settle → collect → tear-down

The stage is gone before anything is judged. A run is judged from its folder
and from nothing else, by the same code that `onceproof check` runs a year later.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from onceproof.harness.clock import now
from onceproof.harness.context.pipeline import PipelineTrouble
from onceproof.harness.context.recorder import HeldBack, Recorder, Stalled
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
    """Who disturbs a run."""

    def announce(self) -> None:
        """Record what is planned."""

    def carry_out(self) -> None:
        """Disturb; returns when everything is over and healed."""

    def after_collect(self, known: Collected) -> None:
        """Let every fault record the hazards that show only when all has been collected."""


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
        """Make the run folder; nothing is started yet.

        Args:
            conduct: makes who carries out the schedule.
            remove: folders that must not outlive the run.
            backend: what the stage is made of: processes, or containers.

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
        """Everything from arranging to tearing down, then the history sealed.

        What goes wrong in a phase is in the history, with the phase; it leaves this function
        only when even that could not be written.

        Raises:
            HistoryNotWritten: the history could not be written, for instance because the disk is
                full; what was written stays.
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
            # Nothing has begun: a folder without a record would be nobody's to judge or to clean.
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
            pass  # reported by the phase that it ended, see `Recorder.phase`
        finally:
            self._tear_down(parts)

    def _tear_down(self, parts: RunAssembly) -> None:
        """End everything, whether or not it can be written down."""
        try:
            with self._recorder.phase("tear-down"):
                parts.tear_down()
        except Exception:
            # Reported by the phase, or not even that could be: then nothing was torn down yet.
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
        unsettled: Stalled | HeldBack | None = None
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
            except (Stalled, HeldBack) as reason:
                # What an unsettled pipeline left can still prove a violation by its presence.
                unsettled = reason
        with phase("collect"):
            conductor.after_collect(collect(context, self.folder.history))
        if unsettled is not None:
            raise unsettled

    def _warm_up(self, context: RunContext) -> None:
        """See records flow end to end before anything is broken."""
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
        """See that everything is undone: nodes up, no toxics, every replica in sync."""
        wait_until(
            lambda: not context.stage.disturbed(),
            what="every fault to be undone",
            seconds=10,
            stop=self._stop,
            seen=context.stage.disturbed,
        )
        wait_in_sync(context)


def _alive(context: RunContext) -> None:
    """A pipeline that ended by itself has stalled; that is its own failure, not the harness's."""
    try:
        context.pipeline.check()
    except PipelineTrouble as error:
        raise Stalled(str(error)) from error
