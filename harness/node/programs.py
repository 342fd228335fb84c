"""Install the programs of this folder and their packages, when one is needed for the first time.

The packages are pinned by package-lock.json, without addresses. The programs are cached with the
downloads, and installed again when a source or a version has changed.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Final

from onceproof.harness.tools import cache
from onceproof.harness.tools.node import Node, install_packages, node
from onceproof.harness.tools.progress import Progress, Step, silent

SOURCES: Final = Path(__file__).resolve().parent
_TOOL: Final = "Node clients"


def command(
    name: str, *arguments: str | Path, cache_folder: Path | None = None, progress: Progress = silent
) -> list[str | Path]:
    """Return the command of the program `name`.mjs.

    Args:
        cache_folder: for the programs (default: the cache of the downloads).

    Raises:
        SetupError: there is no Node.js, or a package is not available.
    """
    at = cache_folder or cache.location()
    found = node(at, lambda why: progress(Step(tool=_TOOL, message=f"{why}: downloading one")))

    def install(folder: Path) -> None:
        progress(Step(tool=_TOOL, message="installing packages"))
        _install(found, folder)

    folder = cache.install(at / "node" / cache.state_of(_sources(), SOURCES), install)
    return [found.program, folder / f"{name}.mjs", *arguments]


def version_of(package: str) -> str:
    """Return the version of a package that the programs use, such as 2.2.4."""
    lock = json.loads((SOURCES / "package-lock.json").read_text())
    return str(lock["packages"][f"node_modules/{package}"]["version"])


def _install(found: Node, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for file in _sources():
        shutil.copy(file, folder)
    install_packages(found, folder)


def _sources() -> list[Path]:
    return [*SOURCES.glob("*.mjs"), *SOURCES.glob("package*.json")]
