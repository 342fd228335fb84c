"""Kill a service that only commands control; see `deployed.py`."""

from __future__ import annotations

import shlex
import subprocess
from dataclasses import dataclass
from typing import Final

from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.user_pipeline.health import Health
from onceproof.harness.wait import wait_until

_SECONDS: Final = 30.0


@dataclass(frozen=True, kw_only=True)
class KillCommand:
    """The command that kills the service, and the check that it is gone."""

    command: tuple[str, ...]
    health: Health

    def pause(self) -> None:
        """Raise `StageTrouble`: no command pauses the service."""
        raise StageTrouble(
            "the pipeline is controlled only by commands, and none of them can pause it"
        )

    def resume(self) -> None:
        """Do nothing: the service is never paused."""

    def paused(self) -> bool:
        return False

    def kill(self) -> str:
        """Run the command; return the evidence that the service is gone.

        Raises:
            StageTrouble: the command cannot be run, or fails.
            Overdue: the service still answers.
        """
        words = shlex.join(self.command)
        try:
            done = subprocess.run(
                self.command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                errors="replace", timeout=_SECONDS, check=False, start_new_session=True,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            raise StageTrouble(f"{words}: {error}") from error
        if done.returncode:
            last = (done.stdout + done.stderr).strip()[-400:] or "none"
            raise StageTrouble(f"{words} exited with code {done.returncode}; output: {last}")
        wait_until(
            self.health.silent,
            what=f"the service to stop answering after {words}",
            seconds=_SECONDS,
            seen=lambda: self.health.seen,
        )
        return f"killed by {words}; {self.health.seen}"
