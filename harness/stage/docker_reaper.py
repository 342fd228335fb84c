"""A process that outlives the harness briefly and removes the containers it left.

Like `reaper`, it waits for the end of a pipe. It finds containers, networks and volumes of the run
by their label, the run's marker. It repeats until nothing has appeared for a while, because the
engine may still be creating what a killed command had requested.

Uses only the standard library and the `docker` command.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time

LABEL = "onceproof.run"
WHERE = "onceproof.where"

_KINDS = (
    (("ps", "--all"), ("rm", "--force", "--volumes")),
    (("network", "ls"), ("network", "rm")),
    (("volume", "ls"), ("volume", "rm", "--force")),
)
"""Commands to list and to remove: containers first, because they use the others."""


def find(docker: str, marker: str) -> list[tuple[tuple[str, ...], list[str]]]:
    """Return (how to remove, ids) of everything with the marker, in the order of removal."""
    found: list[tuple[tuple[str, ...], list[str]]] = []
    for listing, removing in _KINDS:
        ids = _docker(docker, *listing, "--quiet", "--filter", f"label={LABEL}={marker}")
        if ids.split():
            found.append((removing, ids.split()))
    return found


def remove(docker: str, marker: str, *, quiet: float = 1.5, seconds: float = 30.0) -> int:
    """Remove everything of a run until nothing was found for `quiet` seconds; return the count."""
    removed: set[str] = set()
    deadline = time.monotonic() + seconds
    last = time.monotonic()
    while time.monotonic() < min(last + quiet, deadline):
        for removing, ids in find(docker, marker):
            _docker(docker, *removing, *ids)
            removed |= set(ids)
            last = time.monotonic()
        signal.sigtimedwait([signal.SIGUSR1], 0.1)
    return len(removed)


def _docker(docker: str, *arguments: str) -> str:
    """Return the command's output; removing something that is already gone is not an error."""
    try:
        done = subprocess.run(
            [docker, *arguments], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout


def main() -> None:
    """Wait for the end of standard input, then remove."""
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(ignored, signal.SIG_IGN)
    marker, docker = sys.argv[1:3]
    orderly = sys.stdin.buffer.read() != b""
    # In an orderly end, the harness has already removed everything.
    count = remove(docker, marker, quiet=0.05 if orderly else 1.5)
    if count:
        print(f"removed {count} containers, networks and volumes of run {marker}", flush=True)


if __name__ == "__main__":
    main()
