"""A small process that outlives the harness by a moment and removes the containers it left behind.

Like `reaper`, it waits for the end of a pipe, and it finds what belongs to
the run by its marker, which containers, networks and volumes carry as a label. It looks until
nothing has turned up for a while, because the engine may still be creating what a killed command
had asked for.

Runs with nothing but the standard library and the `docker` command.
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
"""How the command lists and how it removes: containers first, for they use the others."""


def find(docker: str, marker: str) -> list[tuple[tuple[str, ...], list[str]]]:
    """What carries the marker: (how to remove it, its ids), in the order of removal."""
    found: list[tuple[tuple[str, ...], list[str]]] = []
    for listing, removing in _KINDS:
        ids = _docker(docker, *listing, "--quiet", "--filter", f"label={LABEL}={marker}")
        if ids.split():
            found.append((removing, ids.split()))
    return found


def remove(docker: str, marker: str, *, quiet: float = 1.5, seconds: float = 30.0) -> int:
    """Remove everything of a run; returns how many things that were.

    It ends when nothing was found for `quiet` seconds.
    """
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
    """What the command says; what is gone already is no failure."""
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
    # In an orderly end all was removed before we are told to go.
    count = remove(docker, marker, quiet=0.05 if orderly else 1.5)
    if count:
        print(f"run {marker} had left {count} containers, networks and volumes", flush=True)


if __name__ == "__main__":
    main()
