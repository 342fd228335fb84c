"""One Kafka broker as a JVM process."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

from onceproof.harness.links.topology import AUDITOR, Topology, broker_name
from onceproof.harness.processes.processes import MARKER, Process, Processes
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.stage.broker_config import log4j_configuration, server_properties
from onceproof.harness.stage.security import Security
from onceproof.harness.stage.sockets import is_listening
from onceproof.harness.tools.jvm import jvm
from onceproof.harness.tools.setup import StageTools
from onceproof.harness.wait import Stop, wait_until

JVM = ("-Xmx256m", "-Xms64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


class LocalBroker:
    """A broker with its configuration, its data and its current process."""

    asks = signal.SIGTERM

    def __init__(
        self,
        *,
        node: int,
        topology: Topology,
        tools: StageTools,
        processes: Processes,
        folder: Path,
        security: Security | None = None,
    ) -> None:
        self.node = node
        self.name = broker_name(node)
        self.process: Process | None = None
        self.options: Sequence[str] = ()
        """JVM options for its next start, in addition to `JVM`."""
        self._topology = topology
        self._tools = tools
        self._processes = processes
        self._folder = folder
        self._security = security

    @property
    def secured(self) -> bool:
        """Whether clients must log in."""
        return self._security is not None

    @property
    def data(self) -> Path:
        """The log directory."""
        return self._folder / "data"

    def configure(self) -> None:
        self._folder.mkdir(parents=True)
        (self._folder / "hosts").write_text(self._topology.hosts_file(self.node))
        (self._folder / "log4j2.json").write_text(log4j_configuration())
        (self._folder / "server.properties").write_text(
            server_properties(
                self._topology, self.node, self.data, self._security, kafka=self._tools.kafka
            )
        )

    def format(self, cluster: str) -> None:
        """Format the storage with Kafka's tool; raise `StageTrouble` if it fails."""
        done = subprocess.run(
            [*self._java(), "kafka.tools.StorageTool", "format", "-t", cluster, "-c",
             str(self._folder / "server.properties"),
             *(() if self._security is None else (f"@{self._security.users}",))],
            capture_output=True, text=True, timeout=60, check=False, start_new_session=True,
            env={**os.environ, MARKER: self._processes.marker},
        )  # fmt: skip
        if done.returncode != 0:
            raise StageTrouble(
                f"formatting {self.name} failed: {(done.stdout + done.stderr)[-800:]}"
            )

    def start(self) -> None:
        self.process = self._processes.start(
            self.name,
            [*self._java(*self.options), "kafka.Kafka", self._folder / "server.properties"],
        )

    def wait_listening(self, stop: Stop) -> None:
        """Wait until the Raft listener accepts connections: it is the first that a broker opens."""
        self._wait(self._topology.controller_port, b"", stop)

    def wait_started(self, stop: Stop) -> None:
        """Wait until the broker logs its start and its last listener accepts connections."""
        self._wait(self._topology.audience_port(AUDITOR), b"Kafka Server started", stop)

    def _wait(self, port: int, says: bytes, stop: Stop) -> None:
        process = self.process
        assert process is not None, "the broker has not been started"
        host = self._topology.broker_host(self.node)

        def there() -> bool:
            if not process.leader_alive():
                raise StageTrouble(
                    f"{self.name} exited during startup; end of its log: {process.tail()}"
                )
            return is_listening(host, port) and says in process.log.read_bytes()

        wait_until(there, what=f"{self.name} to start", seconds=120, stop=stop, seen=process.tail)

    def _java(self, *options: str) -> list[str]:
        return [
            *jvm(self._tools.java, *JVM, *options),
            f"-Djdk.net.hosts.file={self._folder / 'hosts'}",
            f"-Dlog4j2.configurationFile={(self._folder / 'log4j2.json').absolute().as_uri()}",
            "-cp",
            f"{self._tools.kafka_libs}/*",
        ]
