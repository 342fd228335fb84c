"""The HTTP service as a local process."""

from __future__ import annotations

import json
import signal
from dataclasses import asdict
from pathlib import Path
from typing import Final

from onceproof.harness.http_service.control import HttpControl
from onceproof.harness.http_service.log import log_of
from onceproof.harness.http_service.settings import HttpSettings
from onceproof.harness.links.topology import AUDITOR, HTTP_SERVICE, Topology
from onceproof.harness.processes.processes import Process, Processes
from onceproof.harness.processes.python import python_module
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.wait import Stop, wait_until

_SECONDS: Final = 30.0


class LocalHttpService:
    """The HTTP service of one run."""

    asks = signal.SIGTERM

    def __init__(
        self, settings: HttpSettings, *, topology: Topology, processes: Processes, work: Path
    ) -> None:
        self.process: Process | None = None
        self.settings = settings
        self.control = HttpControl(place=topology.http_service(AUDITOR), file=log_of(work))
        self._clients = topology.http_service("pipeline")
        self._processes = processes

    def create(self, stop: Stop) -> None:
        self.start()
        self.wait_started(stop)

    def start(self) -> None:
        settings = json.dumps(asdict(self.settings))
        self.process = self._processes.start(
            HTTP_SERVICE,
            python_module(
                "onceproof.harness.http_service",
                *(self._clients, self.control.place, str(self.control.file), settings),
            ),
        )

    def wait_listening(self, stop: Stop) -> None:
        # Nothing needs to connect before it has started.
        self.wait_started(stop)

    def wait_started(self, stop: Stop) -> None:
        process = self.process
        assert process is not None, "start() must be called first"

        def up() -> bool:
            if not process.leader_alive():
                raise StageTrouble(
                    f"{HTTP_SERVICE} ended while starting; last log lines: {process.tail()}"
                )
            return self.control.answers()

        wait_until(
            up, what=f"{HTTP_SERVICE} to start", seconds=_SECONDS, stop=stop, seen=process.tail
        )
