"""What runs left whose harness is gone: processes, containers, and folders for passing use.

A process is ours by a marker in its environment, a container by its label,
a folder by its name, and each of them names the harness. If that lives, nothing is touched.
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
    """Processes, by run."""
    return [
        Item(
            name=f"run {left.marker}: {plural(len(left.processes), 'process', 'processes')}",
            detail=", ".join(left.processes),
            remove=partial(reap, left.marker, seconds=5),
        )
        for left in sweep.find_leftovers()
    ]


def find_containers() -> list[Item]:
    """Containers, networks and volumes, by run; none where there is no Docker."""
    # Slow to import, and many have no Docker.
    from onceproof.harness.stage import docker_reaper, docker_sweep
    from onceproof.harness.tools.docker_engine import connect

    try:
        engine = connect(compose=False)
    except SetupError:
        return []
    return [
        Item(
            name=f"run {left.marker}: {plural(len(left.processes), 'thing')} of Docker's",
            detail=", ".join(left.processes),
            remove=partial(docker_reaper.remove, engine.program, left.marker, quiet=0.05),
        )
        for left in docker_sweep.find_leftovers(engine)
    ]


def find_scratch() -> list[Item]:
    """Folders outside of run folders that did not go with their run."""
    found = []
    for folder in sorted(Path(tempfile.gettempdir()).glob("onceproof-*")):
        match = _SCRATCH.fullmatch(folder.name)
        if match is None or folder.is_symlink() or not folder.is_dir() or harness_alive(match[1]):
            continue
        found.append(
            Item(name=str(folder), size=size_of(folder), remove=partial(shutil.rmtree, folder))
        )
    return found
