"""A PostgreSQL server as a plain process, driven through its own programs.

PostgreSQL refuses to run as root. As root, the harness runs it with another user id, which must own
and reach the data folder. That folder is then in the system's temporary folder, not in the run
folder; `remove` deletes it.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

import psycopg

from onceproof.harness.links.topology import POSTGRES, Topology
from onceproof.harness.processes.processes import MARKER, Identity, Process, Processes
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.stage.database_login import DATABASE, HBA_RULE, Login, connection_string
from onceproof.harness.tools.setup import StageTools
from onceproof.harness.wait import Overdue, Stop, wait_until

_SETTINGS = {
    "unix_socket_directories": "",
    # Not in /dev/shm, where a killed server would leave its segments.
    "dynamic_shared_memory_type": "mmap",
    "shared_buffers": "32MB",
    "max_connections": "30",
    "superuser_reserved_connections": "0",
    "log_min_messages": "warning",
}


class LocalPostgres:
    """The database of one run."""

    asks = signal.SIGINT
    """Fast shutdown: SIGTERM would wait until the last client has disconnected."""

    def __init__(
        self,
        *,
        topology: Topology,
        tools: StageTools,
        processes: Processes,
        folder: Path,
        stop: Stop,
    ) -> None:
        self.process: Process | None = None
        self._topology = topology
        self._bin = tools.postgres.bin
        uid, gid = tools.postgres.uid, tools.postgres.gid
        self._identity = None if uid is None or gid is None else Identity(uid=uid, gid=gid)
        self._processes = processes
        self._stop = stop
        self._folder = folder
        self._login_file = folder.with_name(f"{POSTGRES}-login")
        if self._identity is not None:
            name = f"onceproof-{processes.marker}-postgres"
            self._folder = Path(tempfile.gettempdir()) / name

    @property
    def scratch(self) -> tuple[Path, ...]:
        """The data folder, if it is outside the run folder."""
        return (self._folder,) if self._identity is not None else ()

    def database(self, host: str, port: int) -> str:
        return connection_string(host, port, self._login_file)

    def create(self) -> None:
        """Create data folder and role, start the server, and wait until it accepts connections."""
        self._folder.mkdir(parents=True, mode=0o700)
        if (who := self._identity) is not None:
            os.chown(self._folder, who.uid, who.gid)
        self._login_file.parent.mkdir(parents=True, exist_ok=True)
        login = Login.new(self._login_file)
        self._run(
            "initdb", "-D", self._folder, "-U", "superuser", "--auth=reject",
            "--no-sync", "--no-instructions", "--encoding=UTF8", "--locale=C",
        )  # fmt: skip
        self._run("/usr/bin/tee", self._folder / "pg_hba.conf", asks=HBA_RULE)
        # The superuser cannot connect over the network, so create the role in single-user mode.
        output = self._run(
            "postgres", "--single", "-D", self._folder, DATABASE, asks=login.statements
        )
        if "ERROR" in output:
            raise StageTrouble(f"creating the role failed: {output[-800:]}")
        self.start()
        self.wait_started(self._stop)

    def _run(self, program: str, *arguments: str | Path, asks: str = "") -> str:
        """Run a program as the owner of the data; return its output, or raise `StageTrouble` with
        it.
        """
        who = self._identity
        done = subprocess.run(
            [self._bin / program, *arguments],
            input=asks, capture_output=True, text=True, timeout=60, check=False,
            start_new_session=True, env={**os.environ, MARKER: self._processes.marker}, cwd="/",
            user=who.uid if who else None, group=who.gid if who else None,
            extra_groups=[] if who else None,
        )  # fmt: skip
        if done.returncode != 0:
            raise StageTrouble(f"{program} failed: {(done.stdout + done.stderr)[-800:]}")
        return done.stdout + done.stderr

    def start(self) -> None:
        host, port = self._topology.postgres
        settings = [part for k, v in _SETTINGS.items() for part in ("-c", f"{k}={v}")]
        self.process = self._processes.start(
            POSTGRES,
            [self._bin / "postgres", "-D", self._folder, "-h", host, "-p", str(port), *settings],
            run_as=self._identity,
            folder=Path("/"),
        )

    def wait_listening(self, stop: Stop) -> None:
        """Same as `wait_started`: no other node needs it earlier."""
        self.wait_started(stop)

    def wait_started(self, stop: Stop) -> None:
        process = self.process
        assert process is not None, "the server has not been started"

        def accepts() -> bool:
            if not process.leader_alive():
                raise StageTrouble(
                    f"PostgreSQL exited during startup; end of its log: {process.tail()}"
                )
            try:
                psycopg.connect(self.database(*self._topology.postgres), connect_timeout=2).close()
            except psycopg.OperationalError:
                return False
            return True

        wait_until(
            accepts,
            what="PostgreSQL to accept connections",
            seconds=20,
            stop=stop,
            seen=process.tail,
        )

    def stop(self) -> None:
        """Shut down fast, to free shared memory; a killed server is started once more to free its
        own.
        """
        if self.process is None:
            return
        if self.process.ended_at is not None:
            self.start()
            with suppress(Overdue, StageTrouble):
                self.wait_started(Stop())
        self.process.thaw()
        self.process.stop("torn down", sig=self.asks, seconds=30)

    def remove(self) -> None:
        """Remove the data folder and the password file."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self._login_file.unlink(missing_ok=True)
