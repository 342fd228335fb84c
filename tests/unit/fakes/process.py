"""A process that is only said to run."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from types import SimpleNamespace

from onceproof.harness.clock import now
from onceproof.harness.processes.processes import Process
from onceproof.harness.wait import Stop


class FakeProcess(Process):
    """One life, that does what it is told at once.

    Attributes:
        lives: whether its first process runs.
        still: whether it is frozen.
        count: how many processes it has.
        said: its last words.
    """

    def __init__(
        self,
        instance: str = "driver#1",
        *,
        lives: bool = True,
        count: int = 4,
        log: Path = Path(os.devnull),
        status: int = -signal.SIGKILL,
    ) -> None:
        super().__init__(
            name=instance.partition("#")[0],
            instance=instance,
            popen=SimpleNamespace(returncode=status, pid=2**31 - 1),  # type: ignore[arg-type]
            log=log,
            on_change=lambda _: None,
            started_at=now(),
        )
        self.lives, self.still, self.count, self.said = lives, False, count, "its last words"

    def alive(self) -> bool:
        return self.lives

    def leader_alive(self) -> bool:
        return self.lives

    def members(self) -> int:
        return self.count

    def pids(self) -> list[int]:
        return []  # nothing that a signal could be sent to

    def freeze(self) -> None:
        self.still = True

    def frozen(self) -> bool:
        return self.still

    def pause(self, stop: Stop | None = None) -> None:
        self.still = True

    def thaw(self) -> None:
        self.still = False

    def kill(self, how: str, *, seconds: float = 20.0) -> None:
        self.lives, self.ending, self.how = False, True, how

    def stop(self, how: str, *, sig: signal.Signals = signal.SIGTERM, seconds: float = 5.0) -> None:
        self.kill(how)
        self.popen.returncode = 128 + sig  # as a JVM that is asked to end

    @property
    def ended(self) -> str:
        code = self.popen.returncode
        how = f"ended by signal {-code}" if code < 0 else f"exited with {code}"
        return "has not ended" if self.lives else how

    def note_exit(self) -> None:
        """Nothing to be found out."""

    def tail(self, lines: int = 4) -> str:
        return self.said
