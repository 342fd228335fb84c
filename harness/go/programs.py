"""Build the Go programs of this folder, when one is needed for the first time.

Their modules are pinned by go.sum. Go from PATH builds them, or a toolchain from a wheel. The
programs are cached with the downloads, and built again when a source or a version has changed.
"""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path
from typing import Final

from onceproof.harness.tools import cache, go
from onceproof.harness.tools.progress import Progress, Step, silent

SOURCES: Final = Path(__file__).resolve().parent
_TOOL: Final = "Go clients"


def program(name: str, *, cache_folder: Path | None = None, progress: Progress = silent) -> Path:
    """Return the compiled program `name`, a subfolder here.

    Args:
        cache_folder: for the programs (default: the cache of the downloads).

    Raises:
        SetupError: there is no Go toolchain, or a module is not available.
    """

    def build(folder: Path) -> None:
        def downloading(why: str) -> None:
            progress(Step(tool=_TOOL, message=f"{why}: downloading a Go toolchain"))

        toolchain = go.toolchain(minimum(), folder / "toolchain", downloading)
        progress(Step(tool=_TOOL, message="building"))
        work = folder / "work"
        command: list[str | Path] = [
            *(toolchain, "build", "-C", SOURCES, "-trimpath", "-modcacherw", "-buildvcs=false"),
            *("-ldflags", "-s -w", "-o", f"{folder}/", *(f"./{each}" for each in programs())),
        ]
        go.run("the Go clients", command, work)
        cache.remove(work)
        cache.remove(folder / "toolchain")

    folder = (cache_folder or cache.location()) / "go" / f"{_state()}-{platform.machine()}"
    cache.install(folder, build, usable=lambda folder: os.access(folder / name, os.X_OK))
    return folder / name


def programs() -> list[str]:
    """Return the names of all programs."""
    return sorted(file.parent.name for file in SOURCES.glob("*/main.go"))


def version_of(module: str) -> str:
    """Return the version of a module that the programs are built with, such as 1.22.3."""
    found = re.search(rf"{re.escape(module)} v(\S+)", (SOURCES / "go.mod").read_text())
    assert found is not None, f"{module} is not in go.mod"
    return found[1]


def minimum() -> tuple[int, ...]:
    """Return the oldest version of Go that builds the programs."""
    found = re.search(r"^go (\S+)", (SOURCES / "go.mod").read_text(), re.MULTILINE)
    assert found is not None, "every go.mod names a version"
    return go.numbers(found[1])


def _state() -> str:
    files = [*SOURCES.glob("*/*.go"), SOURCES / "go.mod", SOURCES / "go.sum"]
    return cache.state_of(files, SOURCES)
