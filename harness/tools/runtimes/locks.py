"""Locks of runtimes: the hash of every file that a runtime consists of, by the first download.

They stay in the cache when the runtime itself is removed, so that the same version is the same
software later, or the installation fails.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from onceproof.harness.tools.error import SetupError

FOLDER: Final = "runtime-locks"
"""In the cache."""


def check(cache_folder: Path, title: str, sums: Mapping[str, str]) -> None:
    """Compare sha256 sums with those of the first time, or write them if this is the first.

    Raises:
        SetupError: they differ.
    """
    lock = cache_folder / FOLDER / f"{title}.json"
    try:
        before = json.loads(lock.read_text())
    except FileNotFoundError:
        lock.parent.mkdir(parents=True, exist_ok=True)
        draft = lock.with_suffix(".new")
        draft.write_text(json.dumps(dict(sorted(sums.items())), indent=2) + "\n")
        draft.rename(lock)
        return
    if before != dict(sums):
        names = sorted(name for name in {*before, *sums} if before.get(name) != sums.get(name))
        raise SetupError(
            f"{title} differs from what was installed before, in {', '.join(names)}: the registry "
            f"or a proxy serves different files. If this is right, remove {lock}, then try again."
        )
