"""Find what was downloaded, built or learned for later runs, which get it again if it is missing.

The download folder may be any folder of the user's choice, so only known names count.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Final

from onceproof.cleaning.item import Item, size_of
from onceproof.harness.processes.sweep import living
from onceproof.harness.tools import cache, own_environment

_ENVIRONMENTS: Final = own_environment.FOLDER
_OURS: Final = (
    "brokers", _ENVIRONMENTS, "jars", "java", "postgres-*", "power", "proton", "runtimes",
    "spark",
    "toxiproxy-*",
)  # fmt: skip
_LEARNED: Final = {
    "drivers": re.compile(r"[0-9a-f]{16}"),
    "dry-runs": re.compile(r"[0-9a-f]{32}\.json"),
}
"""Results of dry runs: folder → pattern of its files' names."""
_LOCK: Final = ".lock"
_UNFINISHED: Final = re.compile(r"\.(.+)\.\d+(?:\.old)?\.tmp")


def find_downloads(environ: Mapping[str, str] = os.environ) -> list[Item]:
    folder = cache.location(environ)
    busy = "may be in use by a running onceproof" if living() else None
    patterns = (*_OURS, *_LEARNED)
    paths = sorted(
        (path for pattern in patterns for path in folder.glob(pattern)),
        # This command may run in one of the environments, so they come last.
        key=lambda path: (path.name == _ENVIRONMENTS, path),
    )
    return [
        Item(
            name=str(path),
            size=size_of(path),
            stays=busy,
            remove=partial(shutil.rmtree, path),
        )
        for path in paths
        if _is_ours(path)
    ]


def _is_ours(path: Path) -> bool:
    """Whether onceproof installed it or all of its content, as lock files beside it show.

    The name alone proves nothing: `/opt/spark` may be the user's Spark.
    """
    if not path.is_dir() or path.is_symlink():
        return False
    if (names := _LEARNED.get(path.name)) is not None:
        return all(names.fullmatch(file.name) for file in path.iterdir())
    return _installed(path) or all(map(_installed, path.iterdir()))


def _installed(path: Path) -> bool:
    if path.suffix == _LOCK:
        return path.is_file()
    unfinished = _UNFINISHED.fullmatch(path.name)
    name = unfinished[1] if unfinished else path.name
    return path.with_name(f".{name}{_LOCK}").is_file()
