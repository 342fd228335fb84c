"""The workers of a run, and the one connector that they run.

The workers decide which of them runs its task, so faults ask for the owner. Connect does not
restart a failed task: the harness does, as an operator would, and counts it.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from onceproof.harness.context.pipeline import PipelineParts
from onceproof.harness.context.run_context import addresses
from onceproof.harness.history.tables import Recorded
from onceproof.harness.history.writer import HistoryWriter
from onceproof.harness.kafka.coordinator import Coordinator
from onceproof.harness.kafka.group_offsets import Commit
from onceproof.harness.kafka.groups import Group
from onceproof.harness.kafka.metadata import ClusterView
from onceproof.harness.sinks.base import Sink
from onceproof.harness.sinks.lines import Lines
from onceproof.harness.subjects.connect.login import Login
from onceproof.harness.subjects.connect.rest import RestClient
from onceproof.harness.subjects.connect.worker import ConnectProgram, WorkerTask
from onceproof.harness.subjects.counted import beyond, counted
from onceproof.harness.subjects.group.hazards import REPLAYED, aborted
from onceproof.harness.subjects.group.members import Members
from onceproof.harness.subjects.group.positions import Committed
from onceproof.harness.subjects.supervisor import LIVES
from onceproof.harness.wait import wait_until

TORN: Final = "torn-line"
"""Fragments of lines are in the sink: their writer was killed during a write."""
_SECONDS: Final = 120.0


class Workers(Members):
    """Workers, and one connector with one task."""

    awaited = "the connector's first offset commit"
    mend_every = 0.5
    """Seconds between two checks for a failed task."""

    def __init__(
        self,
        tasks: Sequence[WorkerTask],
        parts: PipelineParts,
        *,
        program: ConnectProgram,
        login: Login,
        connector: str,
        settings: Mapping[str, Any],
        positions: Committed,
    ) -> None:
        super().__init__(
            tasks, parts, program=partial(program.command, login.jaas), positions=positions
        )
        self._addresses = {task.name: task.address for task in tasks}
        self._connector = connector
        self._settings = dict(settings)
        self._rest = RestClient(login.authorization)
        self._created = False
        self._restarted = 0
        self._restarter = threading.Thread(target=self._restart_failed, daemon=True)

    def start(self) -> None:
        """Start the workers; when all have joined their group, create the connector.

        Raises:
            Overdue: they did not join in time.
            PipelineTrouble: they repeatedly ended by themselves.
        """
        super().start()
        if not self._created:
            self.wait_together()
            self._create_connector()
            self._created = True
            self._restarter.start()

    def owner(self) -> str | None:
        """Return the worker that runs the task according to the REST API, or None."""
        tasks = (self._status() or {}).get("tasks", ())
        whose = {str(task["worker_id"]) for task in tasks if task["state"] == "RUNNING"}
        return next((name for name in self._available() if self._addresses[name] in whose), None)

    def wait_owner(self) -> str:
        """Wait until a worker runs the task, and return its name.

        Raises:
            Overdue: none did in time.
            PipelineTrouble: workers repeatedly ended by themselves.
        """

        def found() -> str | None:
            self.check()
            return self.owner()

        return wait_until(
            found,
            what=f"a worker to run the task of {self._connector}",
            seconds=_SECONDS,
            every=0.1,
            stop=self._parts.stop,
            seen=lambda: self._status() or self._rest.last_error,
        )

    def together(self) -> list[str] | None:
        """Return the group's members, from its coordinator; None if it is not stable or unknown."""
        found = addresses(self._parts.stage)
        with ClusterView(found) as view:
            coordinator = Coordinator(
                view, found, of="group", name=self.group, stop=self._parts.stop
            )
            state = Group(coordinator).describe()
        return sorted(state.members) if state.state == "Stable" else None

    def wait_together(self) -> None:
        """Wait until all workers are members of a stable group.

        Raises:
            Overdue: they were not in time.
            PipelineTrouble: they repeatedly ended by themselves.
        """

        def joined() -> bool:
            self.check()
            return self.together() == sorted(self.names)

        wait_until(
            joined,
            what=f"{', '.join(self.names)} to join a stable group",
            seconds=_SECONDS,
            every=0.1,
            stop=self._parts.stop,
            seen=lambda: f"{self.together()}; {self._rest.last_error}",
        )

    def shortly(self) -> str | None:
        words = super().shortly()
        again = f", failed tasks restarted {self._restarted} times" if self._restarted else ""
        return None if words is None else words + again

    def collect(self, writer: HistoryWriter, recorded: Recorded, sink: Sink) -> None:
        super().collect(writer, recorded, sink)
        if isinstance(sink, Lines):
            torn = (TORN, sink.torn(), f"incomplete lines are in {sink.name}")
            writer.write_all("hazards", counted(torn))

    def hazards(self, recorded: Recorded, commits: Sequence[Commit]) -> list[dict[str, Any]]:
        """Return the hazards counted in the sink: copies need not have a record header."""
        log, effects = recorded.lines.get("log", []), recorded.lines.get("effects", [])
        return hazards(log, effects, sink=self._sink)

    def close(self) -> None:
        super().close()
        if self._restarter.is_alive():
            self._restarter.join(5)

    def _available(self) -> list[str]:
        return [
            name
            for name, process in self._running.items()
            if process.leader_alive() and not process.frozen()
        ]

    def _status(self) -> dict[str, Any] | None:
        return self._rest.status((self._addresses[n] for n in self._available()), self._connector)

    def _create_connector(self) -> None:
        def created() -> bool:
            self.check()
            return any(
                self._rest.create(self._addresses[name], self._connector, self._settings)
                for name in self._available()
            )

        wait_until(
            created,
            what=f"a worker to create the connector {self._connector}",
            seconds=_SECONDS,
            every=0.2,
            stop=self._parts.stop,
            seen=lambda: self._rest.last_error,
        )

    def _restart_failed(self) -> None:
        while not self._over.wait(self.mend_every) and not self._parts.stop.is_set():
            status = self._status() or {}
            states = [status.get("connector", {}), *status.get("tasks", ())]
            traces = [str(s.get("trace", "")) for s in states if s.get("state") == "FAILED"]
            if not traces:
                continue
            if self._restarted >= LIVES:
                self._trouble = (
                    f"{self._connector} failed again after {self._restarted} restarts: "
                    f"{traces[0][:400]}"
                )
                return
            for name in self._available():
                if self._rest.restart_failed(self._addresses[name], self._connector):
                    self._restarted += 1
                    break


def hazards(
    log: Sequence[Mapping[str, Any]], effects: Sequence[Mapping[str, Any]], *, sink: str
) -> list[dict[str, Any]]:
    seen = Counter(e["record"] for e in effects if e["sink"] == sink and e["record"] is not None)
    inputs = Counter(row["record"] for row in log if row["kind"] == "data" and row["topic"] != sink)
    return counted(
        *aborted(log, sink),
        (
            REPLAYED,
            beyond(inputs, seen),
            f"inputs have more effects in {sink} than expected",
        ),
    )
