"""Install the programs of this folder and their packages, when one is needed for the first time.

Each client has a folder with its packages, which are pinned by package-lock.json, without
addresses. Both are cached with the downloads, and installed again when they have changed.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, Final

from onceproof.harness.tools import cache
from onceproof.harness.tools.node import (
    Node,
    build_packages,
    install_packages,
    major,
    node,
)
from onceproof.harness.tools.progress import Progress, Step, silent

SOURCES: Final = Path(__file__).resolve().parent
_SHARED: Final = SOURCES / "contract.mjs"
_TOOL: Final = "Node clients"


def command(
    client: str,
    program: str,
    *arguments: str | Path,
    cache_folder: Path | None = None,
    progress: Progress = silent,
) -> list[str | Path]:
    """Return the command of a program of a client, such as `producer` of `kafkajs`.

    Args:
        cache_folder: for the programs (default: the cache of the downloads).

    Raises:
        SetupError: there is no Node.js, or a package is not available or cannot be built.
    """
    at = cache_folder or cache.location()
    found = node(at, lambda why: progress(Step(tool=_TOOL, message=f"{why}: downloading one")))

    def install(folder: Path) -> None:
        _install(client, found, folder, progress)

    def copy(folder: Path) -> None:
        shutil.copy(_SHARED, folder)
        (folder / client).mkdir()
        for file in own:
            shutil.copy(file, folder / client)

    own = sorted((SOURCES / client).glob("*.mjs"))
    name = f"{client}-{cache.state_of(_locks(client), SOURCES)}"
    if _is_built(client):  # for one version of Node.js only
        name += f"-{major(str(found.program))}"
    packages = cache.install(at / "node" / name, install)
    # Within, so that they find the packages; a changed program needs no new ones.
    state = cache.state_of([_SHARED, *own], SOURCES)
    programs = cache.install(packages / f"programs-{state}", copy)
    return [found.program, programs / client / f"{program}.mjs", *arguments]


def version_of(client: str, package: str) -> str:
    """Return the version of a package that the programs of a client use, such as 2.2.4."""
    return str(_locked(client)[f"node_modules/{package}"]["version"])


def _install(client: str, found: Node, folder: Path, progress: Progress) -> None:
    for file in _locks(client):
        shutil.copy(file, folder)
    progress(Step(tool=_TOOL, message="installing packages"))
    install_packages(found, folder)
    if _is_built(client):
        progress(Step(tool=_TOOL, message=f"building {client}: this takes some minutes, once"))
        build_packages(found, folder)


def _is_built(client: str) -> bool:
    """Return whether a package of the client has parts in C++."""
    return any(package.get("hasInstallScript", False) for package in _locked(client).values())


def _locks(client: str) -> list[Path]:
    return sorted((SOURCES / client).glob("package*.json"))


def _locked(client: str) -> dict[str, Any]:
    packages: dict[str, Any] = json.loads((SOURCES / client / "package-lock.json").read_text())[
        "packages"
    ]
    return packages
