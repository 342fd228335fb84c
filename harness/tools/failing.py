"""Run a tool whose output matters only if it fails."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


def output_if_failed(
    command: Sequence[str | Path], *, env: Mapping[str, str], cwd: Path | None = None
) -> str | None:
    """Run a command without input; return what it printed if it failed, else None."""
    answer = subprocess.run(
        command,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
        env=env,
    )
    return answer.stdout if answer.returncode else None


def last_line(output: str, otherwise: str) -> str:
    """Return the last line that is not blank; `otherwise` if there is none."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1] if lines else otherwise
