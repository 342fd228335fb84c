"""Find the runtimes that the cache has."""

from __future__ import annotations

import re
from pathlib import Path

from onceproof.harness.tools.runtimes.known import FOLDER, RUNTIMES, numbers


def present(cache_folder: Path) -> dict[str, list[str]]:
    """Return the versions of each runtime in the cache, oldest first."""
    found: dict[str, set[str]] = {}
    pattern = re.compile(rf"({'|'.join(map(re.escape, RUNTIMES))})-([0-9.]+)-[0-9a-f]{{8}}")
    for place in (cache_folder / FOLDER).glob("*"):
        if (named := pattern.fullmatch(place.name)) is not None:
            found.setdefault(named[1], set()).add(named[2])
    return {name: sorted(versions, key=numbers) for name, versions in found.items()}
