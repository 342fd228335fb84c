"""Run the queue broker and its auditor as JVM processes."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Final

from onceproof.harness.artemis.auditor import QueueAuditor
from onceproof.harness.artemis.configuration import broker_xml
from onceproof.harness.artemis.queues import Queues
from onceproof.harness.java.programs import JavaPrograms
from onceproof.harness.links.topology import ARTEMIS, AUDITOR, QUEUE_AUDIENCES, Topology
from onceproof.harness.processes.processes import Process, Processes
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.wait import Stop, wait_until

STARTED: Final = b"the broker is up"
"""What its log has once it serves clients."""
_SECONDS: Final = 60.0


class LocalArtemis:
    """The queue broker of one run."""

    asks = signal.SIGTERM

    def __init__(
        self, wanted: Queues, *, topology: Topology, processes: Processes, folder: Path
    ) -> None:
        self.process: Process | None = None
        self.wanted = wanted
        self.auditor = QueueAuditor(self._start_auditor, self._logs, wanted.unconsumed)
        self._topology = topology
        self._processes = processes
        self._folder = folder
        self._programs: JavaPrograms | None = None

    def create(self, stop: Stop) -> None:
        """Get its programs, write its configuration, start it and wait until it runs.

        Raises:
            SetupError: a jar is not available, or there is no compiler.
        """
        self._programs = self.wanted.programs()
        self._folder.mkdir(parents=True)
        self._configuration.write_text(
            broker_xml(
                self.wanted.settings,
                folder=self._folder,
                listen={a: self._topology.artemis(a) for a in (*QUEUE_AUDIENCES, AUDITOR)},
                addresses=self.wanted.addresses,
                unconsumed=self.wanted.unconsumed,
                plain=self.wanted.plain,
            )
        )
        self.start()
        self.wait_started(stop)

    def start(self) -> None:
        self.process = self._start(ARTEMIS, "QueueBroker", str(self._configuration))

    def wait_listening(self, stop: Stop) -> None:
        # Nothing needs to connect before it has started.
        self.wait_started(stop)

    def wait_started(self, stop: Stop) -> None:
        process = self.process
        assert process is not None, "start() must be called first"

        def up() -> bool:
            if not process.leader_alive():
                raise StageTrouble(
                    f"{ARTEMIS} ended while starting; last log lines: {process.tail()}"
                )
            return STARTED in process.log.read_bytes()

        wait_until(up, what=f"{ARTEMIS} to start", seconds=_SECONDS, stop=stop, seen=process.tail)

    @property
    def _configuration(self) -> Path:
        return self._folder / "broker.xml"

    def _logs(self) -> list[Path]:
        return [process.log for process in self._processes.all if process.name == ARTEMIS]

    def _start_auditor(self) -> Process:
        where = self._topology.artemis(AUDITOR)
        return self._start("queue-auditor", "QueueAuditor", where, pipes=True)

    def _start(self, name: str, program: str, argument: str, *, pipes: bool = False) -> Process:
        assert self._programs is not None, "create() must be called first"
        command = self._programs.command(program, argument)
        return self._processes.start(name, command, pipes=pipes)
