"""Run the queue broker and its auditor as JVM processes."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Final

from onceproof.harness.artemis.auditor import auditor as artemis_auditor
from onceproof.harness.artemis.configuration import Artemis, broker_xml
from onceproof.harness.artemis.programs import artemis_programs
from onceproof.harness.java.programs import JavaPrograms
from onceproof.harness.links.topology import AUDITOR, QUEUE_AUDIENCES, QUEUE_BROKER, Topology
from onceproof.harness.processes.processes import Process, Processes
from onceproof.harness.queues.base import Queues, started
from onceproof.harness.tools.jar_lock import ARTEMIS as VERSION
from onceproof.harness.wait import Stop

STARTED: Final = b"the broker is up"
"""What its log has once it serves clients."""


class LocalArtemis:
    """The queue broker of one run."""

    asks = signal.SIGTERM

    def __init__(
        self,
        wanted: Queues,
        settings: Artemis,
        *,
        topology: Topology,
        processes: Processes,
        folder: Path,
    ) -> None:
        self.process: Process | None = None
        self.wanted = wanted
        self.auditor = artemis_auditor(self._start_auditor, self._logs, wanted.unconsumed)
        self._settings = settings
        self._topology = topology
        self._processes = processes
        self._folder = folder
        self._programs: JavaPrograms | None = None

    def create(self, stop: Stop) -> None:
        """Get its programs, write its configuration, start it and wait until it runs.

        Raises:
            SetupError: a jar is not available, or there is no compiler.
        """
        self._programs = artemis_programs(self.wanted.tools)
        self._folder.mkdir(parents=True)
        self._configuration.write_text(
            broker_xml(
                self._settings,
                folder=self._folder,
                listen={a: self._topology.queue_broker(a) for a in (*QUEUE_AUDIENCES, AUDITOR)},
                addresses=self.wanted.addresses,
                unconsumed=self.wanted.unconsumed,
                plain=self.wanted.plain,
            )
        )
        self.start()
        self.wait_started(stop)

    def start(self) -> None:
        self.process = self._start(QUEUE_BROKER, "QueueBroker", str(self._configuration))

    def wait_listening(self, stop: Stop) -> None:
        # Nothing needs to connect before it has started.
        self.wait_started(stop)

    def wait_started(self, stop: Stop) -> None:
        assert self.process is not None, "start() must be called first"
        started(self.process, STARTED, stop)

    def versions(self) -> dict[str, str]:
        return {self._settings.product: VERSION}

    @property
    def _configuration(self) -> Path:
        return self._folder / "broker.xml"

    def _logs(self) -> list[Path]:
        return [process.log for process in self._processes.all if process.name == QUEUE_BROKER]

    def _start_auditor(self) -> Process:
        where = self._topology.queue_broker(AUDITOR)
        return self._start("queue-auditor", "QueueAuditor", where, pipes=True)

    def _start(self, name: str, program: str, argument: str, *, pipes: bool = False) -> Process:
        assert self._programs is not None, "create() must be called first"
        command = self._programs.command(program, argument)
        return self._processes.start(name, command, pipes=pipes)
