"""One container as a node: its lives, its log, its end.

A node keeps its container for the whole run, so that data and addresses survive a kill. Each start
is a new life with its own log file.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docker.errors import DockerException, NotFound

from onceproof.harness.clock import now
from onceproof.harness.processes.life import Life
from onceproof.harness.processes.trouble import StageTrouble

_LINE = 200
"""Maximum length of a log line in messages; Kafka has lines of thousands of characters."""
_SIGNAL_BASE = 128
"""Exit code of a container ended by a signal, minus the number of the signal."""


@dataclass(kw_only=True)
class DockerLife:
    """One life of a container."""

    name: str
    instance: str
    started_at: int
    log: Path
    ended_at: int | None = None
    how: str | None = None


class DockerNode:
    """A container of the stage."""

    def __init__(
        self, name: str, container: Any, *, logs: Path, on_change: Callable[[Life], None]
    ) -> None:
        self.name = name
        self.container = container
        self._logs = logs
        self._on_change = on_change
        self._lives = 0
        self.life = self._begin(None)

    def alive(self) -> bool:
        """Return whether its process exists, paused or not."""
        return bool(self._state()["Running"])

    def paused(self) -> bool:
        """Return whether the engine reports it as paused."""
        return bool(self._state()["Paused"])

    def tables(self) -> Path:
        """Return the folder of its network's socket tables; raise `StageTrouble` if it is not
        running.
        """
        pid = self._state()["Pid"]
        if not pid:
            raise StageTrouble(f"{self.name} is not running; end of its log: {self.tail()}")
        return Path("/proc", str(pid), "net")

    def addresses(self) -> list[str]:
        """Return its address on each of its networks."""
        self.container.reload()
        networks = self.container.attrs["NetworkSettings"]["Networks"].values()
        return [n["IPAddress"] for n in networks if n["IPAddress"]]

    def freeze(self) -> None:
        """SIGSTOP its first process, if it has not ended."""
        with suppress(DockerException):
            self.container.kill("SIGSTOP")

    def thaw(self) -> None:
        """SIGCONT its first process, if it has not ended."""
        with suppress(DockerException):
            self.container.kill("SIGCONT")

    def pause(self) -> str:
        """Freeze all its processes; return the status that the engine reports."""
        self.container.pause()
        return f"{self.life.instance} is paused: the engine reports it as {self._state()['Status']}"

    def resume(self) -> None:
        self.container.unpause()

    def kill(self, how: str) -> str:
        """SIGKILL its process; return how it ended, as reported by the engine."""
        self.container.kill("SIGKILL")
        code = self._wait_exit_code()
        self._end(how)
        by = f"by signal {code - _SIGNAL_BASE}" if code > _SIGNAL_BASE else f"with exit code {code}"
        return f"{self.life.instance} ended {by}"

    def ask_to_end(self, sig: str) -> None:
        self.container.kill(sig)

    def ended(self, how: str, *, seconds: float) -> str:
        """Wait for its requested end; return how it ended, as reported by the engine.

        Raises:
            StageTrouble: it did not end in time, and was killed.
        """
        self.container.stop(timeout=int(seconds))
        code = self._wait_exit_code()
        self._end(how)
        if code == _SIGNAL_BASE + signal.SIGKILL:
            raise StageTrouble(
                f"{self.life.instance} did not end within {seconds:g} s when asked to"
            )
        return f"{self.life.instance} ended with status {code}"

    def start(self) -> None:
        self._end(self._exit_description())
        # Earlier log lines belong to earlier lives. The engine's start time cannot be used:
        # the first lines of a life are older.
        since = time.time()
        self.container.start()
        self.life = self._begin(since)

    def end(self, how: str) -> None:
        """End it if it is running; ignore what is already gone."""
        with suppress(NotFound):
            if self.alive():
                with suppress(DockerException):
                    self.container.kill("SIGKILL")
                    self._wait_exit_code()
            else:
                how = self._exit_description()
        self._end(how)

    def tail(self, lines: int = 4) -> str:
        """Return the last lines of its log, and the log's path."""
        try:
            log_lines = self.container.logs(tail=lines).decode(errors="replace").split("\n")
        except DockerException:
            return "no log"
        words = " | ".join(line.strip()[:_LINE] for line in log_lines if line.strip())
        return f"{words} (whole log: logs/{self.life.log.name})"

    def _wait_exit_code(self) -> int:
        code: int = self.container.wait(timeout=20)["StatusCode"]
        return code

    def _state(self) -> dict[str, Any]:
        self.container.reload()
        state: dict[str, Any] = self.container.attrs["State"]
        return state

    def _exit_description(self) -> str:
        state = self._state()
        memory = ", out of memory" if state.get("OOMKilled") else ""
        return f"exited with code {state['ExitCode']}{memory}"

    def _begin(self, since: float | None) -> DockerLife:
        self._lives += 1
        instance = f"{self.name}#{self._lives}"
        log = self._logs / f"{self.name}.{self._lives}.log"
        life = DockerLife(name=self.name, instance=instance, started_at=now(), log=log)
        self._follower = threading.Thread(target=self._follow, args=(log, since), daemon=True)
        self._follower.start()
        self._on_change(life)
        return life

    def _end(self, how: str) -> None:
        self._follower.join(5)
        if self.life.ended_at is None:
            self.life.ended_at, self.life.how = now(), how
            self._on_change(self.life)

    def _follow(self, log: Path, since: float | None) -> None:
        """Copy the container's log until this life ends."""
        with suppress(DockerException, OSError), log.open("ab", buffering=0) as out:
            for piece in self.container.logs(stream=True, follow=True, since=since):
                out.write(piece)
