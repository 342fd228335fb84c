"""Run a queue broker whose server and client library come as Python packages.

They are installed when a run first needs them. A process of its own answers questions about its
queues, because it needs the client library.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from onceproof.harness.links.topology import AUDITOR, QUEUE_BROKER, Topology
from onceproof.harness.processes.processes import Process, Processes
from onceproof.harness.processes.with_packages import with_packages
from onceproof.harness.queues.auditor import NOWHERE, QueueAuditor
from onceproof.harness.queues.base import Queues, started
from onceproof.harness.tools import cache, pip
from onceproof.harness.wait import Stop

Settings = TypeVar("Settings")


@dataclass(frozen=True, kw_only=True)
class Packages:
    """A server and a client library.

    Attributes:
        name: of the folder in the cache.
        lock: file with the versions and hashes of the packages.
        names: package → the name that reports have for it.
    """

    name: str
    lock: Path
    names: dict[str, str]

    def installed(self) -> Path:
        """Return the folder with the packages; raise `SetupError` if they cannot be had."""
        lock_hash = hashlib.sha256(self.lock.read_bytes()).hexdigest()[:12]
        place = cache.location() / self.name / f"{platform.machine()}-{lock_hash}"
        return cache.install(place, lambda folder: pip.install_wheel(self.lock, folder))

    def versions(self) -> dict[str, str]:
        """Return the versions in the lock."""
        found = re.findall(r"^(\S+)==(\S+)", self.lock.read_text(), re.MULTILINE)
        return {self.names[package]: version for package, version in found if package in self.names}


@dataclass(frozen=True, kw_only=True)
class Server(Generic[Settings]):
    """How a server is run.

    Attributes:
        program: its path in the folder of its packages.
        ready: what its log has once it serves clients.
        auditor: module that answers questions, started with the settings and `host:port`.
        configuration: returns its configuration file, of settings, `host:port` and a data folder.
        options: words before the path of that file.
    """

    packages: Packages
    program: Path
    ready: bytes
    auditor: str
    configuration: Callable[[Settings, str, Path], str]
    options: tuple[str, ...] = ()

    def command(self, folder: Path, file: Path) -> list[str | Path]:
        """Return its command, with the folder of its packages and its configuration file."""
        return [folder / self.program, *self.options, file]


class LocalServer:
    """The server of one run."""

    asks = signal.SIGTERM

    def __init__(
        self,
        server: Server[Any],
        wanted: Queues,
        *,
        topology: Topology,
        processes: Processes,
        folder: Path,
    ) -> None:
        self.process: Process | None = None
        self.wanted = wanted
        self.auditor = QueueAuditor(
            self._start_auditor, product=wanted.settings.product, named=True
        )
        self._server = server
        self._listen = topology.queue_broker(AUDITOR)
        self._processes = processes
        self._folder = folder

    def create(self, stop: Stop) -> None:
        """Install and start it, wait until it runs, and create its queues.

        Raises:
            SetupError: its packages cannot be had.
        """
        data = self._folder / "data"
        data.mkdir(parents=True)
        self._file.write_text(self._server.configuration(self.wanted.settings, self._listen, data))
        self.start()
        self.wait_started(stop)
        for address in (*self.wanted.addresses, NOWHERE):
            self.auditor.create(address, consumed=True)
        for address in self.wanted.unconsumed:
            self.auditor.create(address, consumed=False)

    def start(self) -> None:
        command = self._server.command(self._server.packages.installed(), self._file)
        self.process = self._processes.start(QUEUE_BROKER, command)

    def wait_listening(self, stop: Stop) -> None:
        self.wait_started(stop)

    def wait_started(self, stop: Stop) -> None:
        assert self.process is not None, "start() must be called first"
        started(self.process, self._server.ready, stop)

    def versions(self) -> dict[str, str]:
        return self._server.packages.versions()

    @property
    def _file(self) -> Path:
        return self._folder / "server.conf"

    def _start_auditor(self) -> Process:
        command = with_packages(
            self._server.packages.installed(),
            self._server.auditor,
            json.dumps(self.wanted.settings.as_json()),
            self._listen,
        )
        return self._processes.start("queue-auditor", command, pipes=True)
