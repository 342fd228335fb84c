"""Find what dead runs left behind: processes, containers and temporary folders.

A marker in a process's environment, a container's label or a folder's name identifies the harness.
If that harness is alive, nothing is touched.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from functools import partial
from pathlib import Path
from typing import Final

from onceproof.cleaning.item import Item, size_of
from onceproof.harness.processes import sweep
from onceproof.harness.processes.reaper import reap
from onceproof.harness.processes.sweep import harness_alive
from onceproof.harness.tools.error import SetupError
from onceproof.reports.text import plural

_SCRATCH: Final = re.compile(r"onceproof-(\d+-\d+-[0-9a-f]+)-\w+")


def find_processes() -> list[Item]:
    return [
        Item(
            name=f"run {left.marker}: {plural(len(left.processes), 'process', 'processes')}",
            detail=", ".join(left.processes),
            remove=partial(reap, left.marker, seconds=5),
        )
        for left in sweep.find_leftovers()
    ]


def find_containers() -> list[Item]:
    """Return containers, networks and volumes, by run; empty without Docker."""
    # Slow to import, and often not needed.
    from onceproof.harness.stage import docker_reaper, docker_sweep
    from onceproof.harness.tools.docker_engine import connect

    try:
        engine = connect(compose=False)
    except SetupError:
        return []
    return [
        Item(
            name=f"run {left.marker}: {plural(len(left.processes), 'Docker object')}",
            detail=", ".join(left.processes),
            remove=partial(docker_reaper.remove, engine.program, left.marker, quiet=0.05),
        )
        for left in docker_sweep.find_leftovers(engine)
    ]


def find_scratch() -> list[Item]:
    """Return temporary folders that outlived their run."""
    found = []
    for folder in sorted(Path(tempfile.gettempdir()).glob("onceproof-*")):
        match = _SCRATCH.fullmatch(folder.name)
        if match is None or folder.is_symlink() or not folder.is_dir() or harness_alive(match[1]):
            continue
        found.append(
            Item(name=str(folder), size=size_of(folder), remove=partial(shutil.rmtree, folder))
        )
    return found
