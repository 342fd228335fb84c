"""Opening a lab: a run that has no schedule, and stays up until it is told to end.

It is a run in every other respect. Its folder is judged and told by the same
code, and what was done by hand is in `run.json` as its schedule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.base import Fault
from onceproof.harness.history import events
from onceproof.harness.history.run_record import RunRecord, Step
from onceproof.harness.lab.by_hand import ByHand
from onceproof.harness.lab.place import Place
from onceproof.harness.lab.server import LabServer
from onceproof.harness.run.phases import Conducting, Run
from onceproof.harness.schedule.fault_execution import FaultExecution
from onceproof.harness.schedule.scenario import Scenario, ScheduledFault
from onceproof.harness.schedule.supported_faults import offered_to
from onceproof.harness.stage.backends import LOCAL, offers
from onceproof.harness.tools.setup import Tools
from onceproof.harness.wait import Stop

Opened = Callable[[dict[str, Any]], None]


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
        """Take the name and make the run folder; nothing is started yet.

        Args:
            scenario: whose pipeline, workload and claims; its schedule and expectations are not
                taken, because what happens here is up to the user.
            name: what it is called; one of each name may be up.
            opened: called when it is up, with what `GET /` answers.
            backend: what the stage is made of.
            run: what is run of it.

        Raises:
            LabTrouble: a lab of that name is up, or it is no name.
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
        """Bring it up, serve it, and take it down; see `Run.execute`."""
        try:
            self.run.execute()
        finally:
            if self._server is not None:
                self._server.close()
            self._place.leave()

    def _conduct(self, schedule: Sequence[ScheduledFault], context: RunContext) -> Conducting:
        # How much is sent is up to the user as well.
        folder = self.run.folder.path
        record = RunRecord.load(folder)
        if record.written is not None:
            written = record.written.model_copy(update={"records": 0})
            record.model_copy(update={"written": written}).save(folder)
        return ByHand(context, offered=self._offered, opened=self._serve, noted=self._note)

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
        self._server = LabServer(self._place, lab, about)
        self._opened(self._server.answer("GET", "/", {})[1])

    def _note(self, line: FaultExecution) -> None:
        """Write a fault into the record, so that the report names it and it can be done again."""
        folder = self.run.folder.path
        record = RunRecord.load(folder)
        step = _step(line.at.name, line.at.do)
        # What came by hand came when the user wanted it to, which no schedule says.
        record.model_copy(update={"schedule": [*record.schedule, step], "plan": None}).save(folder)


def _step(name: str, fault: Fault) -> Step:
    return Step(
        fault=name,
        kind=fault.kind,
        when="by hand",
        do=fault.describe(),
        until="it is healed by hand",
        required=False,
    )
