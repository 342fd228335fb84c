"""Open a lab: a run that stays up until it is told to end, with faults injected by its user.

Its folder is judged and reported like that of any run; its faults become the recorded schedule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from onceproof.harness.clock import now
from onceproof.harness.context.recorder import Recorder
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.base import Fault
from onceproof.harness.history import events
from onceproof.harness.history.run_record import Note, RunRecord, Step
from onceproof.harness.lab.by_hand import ByHand
from onceproof.harness.lab.place import Place
from onceproof.harness.lab.protocol import LabProtocol
from onceproof.harness.lab.server import LabServer
from onceproof.harness.run.phases import Conducting, Run
from onceproof.harness.schedule.fault_execution import FaultExecution
from onceproof.harness.schedule.scenario import Scenario, ScheduledFault
from onceproof.harness.schedule.supported_faults import offered_to
from onceproof.harness.stage.backends import LOCAL, offers
from onceproof.harness.tools.setup import Tools
from onceproof.harness.wait import Stop

Opened = Callable[[LabProtocol], None]


class Lab:
    """One lab."""

    def __init__(
        self,
        scenario: Scenario,
        *,
        name: str,
        seed: int,
        runs: Path,
        tools: Tools,
        handlers: Sequence[events.Handler],
        stop: Stop,
        repeat: str,
        opened: Opened,
        backend: str = LOCAL,
        run: type[Run] = Run,
    ) -> None:
        """Reserve the name and make the run folder, without starting anything.

        Args:
            scenario: its pipeline, workload and claims are used; its schedule and expected
                verdicts are not, because the user decides what happens.
            opened: called with the lab's protocol when the lab runs.

        Raises:
            LabError: a lab of that name is running, or the name is invalid.
            SetupError: the backend's file cannot be used.
            OSError: the folder cannot be made.
        """
        self._offered = offered_to(scenario, offers(backend))
        self._place = Place.take(name)
        self._opened = opened
        self._server: LabServer | None = None
        self.run = run(
            replace(
                scenario,
                schedule=(),
                claims=tuple(replace(claim, expect=None) for claim in scenario.claims),
            ),
            seed=seed,
            runs=runs,
            tools=tools,
            handlers=handlers,
            stop=stop,
            repeat=repeat,
            conduct=self._conduct,
            remove=[self._place.folder],
            backend=backend,
        )

    def execute(self) -> None:
        try:
            self.run.execute()
        finally:
            if self._server is not None:
                self._server.close()
            self._place.leave()

    def _conduct(self, schedule: Sequence[ScheduledFault], context: RunContext) -> Conducting:
        # The user also decides how many records are sent.
        folder = self.run.folder.path
        record = RunRecord.load(folder)
        if record.written is not None:
            written = record.written.model_copy(update={"records": 0})
            record.model_copy(update={"written": written}).save(folder)
        return ByHand(
            context,
            offered=self._offered,
            opened=self._serve,
            noted=self._note,
            write_note=partial(self._write_note, context.recorder),
        )

    def _serve(self, lab: ByHand) -> None:
        about = {
            "lab": self._place.name,
            "folder": str(self.run.folder.path),
            "seed": self.run.seed,
            "scenario": self.run.scenario.name,
            "topic": lab.context.topic,
            "topics": {t.name: t.partitions for t in self.run.scenario.all_topics},
            "claims": [claim.name for claim in self.run.scenario.claims],
            "socket": str(self._place.socket),
        }
        protocol = LabProtocol(lab, about)
        self._server = LabServer(self._place, protocol)
        self._opened(protocol)

    def _note(self, execution: FaultExecution) -> None:
        """Add a fault to the run record, so that the report names it."""
        folder = self.run.folder.path
        record = RunRecord.load(folder)
        step = _step(execution.at.name, execution.at.do)
        # No plan, because a schedule cannot express when the user injected it.
        record.model_copy(update={"schedule": [*record.schedule, step], "plan": None}).save(folder)

    def _write_note(self, recorder: Recorder, text: str) -> None:
        """Add a user's note to the run record, so that the report shows it."""
        note, folder = Note(at=now(), text=text), self.run.folder.path
        record = RunRecord.load(folder)
        record.model_copy(update={"notes": [*record.notes, note]}).save(folder)
        recorder.emit(events.NoteWritten(at=note.at, text=text))


def _step(name: str, fault: Fault) -> Step:
    return Step(
        fault=name,
        kind=fault.kind,
        when="by hand",
        do=fault.describe(),
        until="it is healed by hand",
        required=False,
    )
