"""The project's `.venv`: made, filled from the lock, and left alone as long as nothing changed.

A stamp in the folder says what it was made from. While it is being filled
the stamp says so, and what was begun and not finished is made anew. Only the standard library is
used: this runs before anything is installed.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from onceproof.harness.tools import cache, pip
from onceproof.harness.tools.error import SetupError, from_os

GIB = 1 << 30
NEEDED_DISK = 3 * GIB
"""PySpark alone is 0.4 GB as an archive, again unpacked, as a wheel, and installed."""
UNFINISHED = "unfinished"

Say = Callable[[str], None]
Install = Callable[["Environment", Say], None]


@dataclass(frozen=True, kw_only=True)
class Environment:
    """The paths of one project."""

    root: Path

    @property
    def folder(self) -> Path:
        """The virtual environment."""
        return self.root / ".venv"

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    @property
    def command(self) -> Path:
        """The last thing that is installed."""
        return self.folder / "bin" / "onceproof"

    @property
    def lock(self) -> Path:
        """What is installed, with hashes."""
        return self.root / "requirements.txt"

    @property
    def stamp(self) -> Path:
        """What it was made from."""
        return self.folder / "onceproof-stamp"

    @property
    def log(self) -> Path:
        """What pip said."""
        return self.folder / "onceproof-setup.log"


def fingerprint(environment: Environment, *, python: str = "") -> str:
    """Changes whenever the environment has to be filled again.

    The place counts, because a virtual environment does not survive being moved.
    """
    parts = [
        python or f"{platform.python_version()} {platform.machine()}",
        str(environment.folder.resolve()),
        environment.lock.read_text(),
        (environment.root / "pyproject.toml").read_text(),
    ]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def ensure(environment: Environment, say: Say, *, install: Install | None = None) -> bool:
    """Make sure that the environment is there; True if something had to be done."""
    try:
        guard = environment.root / ".venv.lock"
        with cache.locked(guard, waiting=lambda: say("another set-up is running here: waiting")):
            wanted = fingerprint(environment)
            if _stamped(environment) == wanted and not missing(environment):
                return False
            _check_disk(environment.root)
            _prepare(environment, say)
            (install or from_lock)(environment, say)
            environment.stamp.write_text(wanted + "\n")
    except OSError as error:
        raise from_os(error, doing=f"making {environment.folder}") from error
    return True


def _stamped(environment: Environment) -> str:
    try:
        return environment.stamp.read_text().strip()
    except OSError:
        return ""


_REPORT = """
import sys
from importlib.metadata import PackageNotFoundError, version
for pinned in sys.argv[1:]:
    name, wanted = pinned.split("==")
    try:
        here = version(name)
    except PackageNotFoundError:
        here = None
    if here != wanted:
        print(pinned)
"""


def missing(environment: Environment) -> list[str]:
    """Which packages of the lock are not there; all of them if its Python does not run."""
    text = environment.lock.read_text()
    # Lines with a marker are for other systems, or for this one: nothing is said about them.
    pinned = re.findall(r"^([A-Za-z0-9._-]+==[^\s;]+)(?: \\)?$", text, re.MULTILINE)
    if not environment.command.exists():
        return pinned
    try:
        answer = subprocess.run(
            [environment.python, "-I", "-c", _REPORT, *pinned],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return pinned
    return answer.stdout.split()


def _check_disk(root: Path) -> None:
    free = shutil.disk_usage(root).free
    if free < NEEDED_DISK:
        raise SetupError(
            f"Only {free / GIB:.1f} GB are free at {root}, the set-up needs "
            f"{NEEDED_DISK / GIB:.0f} GB. Make room, then try again."
        )


def _prepare(environment: Environment, say: Say) -> None:
    """Have a virtual environment that works, and say in it that it is not finished."""
    if environment.folder.exists() and not _worth_keeping(environment):
        say("removing a .venv that is broken or half-made")
        cache.remove(environment.folder)
    if not environment.folder.exists():
        say("making .venv")
        _create(environment)
    environment.stamp.write_text(UNFINISHED + "\n")


def _worth_keeping(environment: Environment) -> bool:
    """Whether pip can bring it up to date, which is faster than starting from nothing."""
    if _stamped(environment) == UNFINISHED:
        return False
    probe = "import pip, sys; print(sys.prefix, sys.version_info[:2])"
    try:
        answer = subprocess.run(
            [environment.python, "-I", "-c", probe],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return answer.stdout.strip() == f"{environment.folder.resolve()} {sys.version_info[:2]}"


def _create(environment: Environment) -> None:
    answer = subprocess.run(
        [sys.executable, "-m", "venv", environment.folder],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if answer.returncode != 0:
        cache.remove(environment.folder)
        said = [line for line in answer.stdout.splitlines() if line.strip()]
        reason = said[-1].strip() if said else "Python does not say why"
        raise SetupError(f"Making the virtual environment {environment.folder} failed: {reason}")


def from_lock(environment: Environment, say: Say) -> None:
    """Install what the lock names, then the project itself as it lies in its folder."""
    work = environment.folder / "work"
    cache.remove(work)
    work.mkdir()
    settings = work / "build.cfg"
    # PySpark comes as a source archive only: a wheel that is not compressed halves its build.
    settings.write_text("[bdist_wheel]\ncompression = stored\n")
    variables = {**os.environ, "DIST_EXTRA_CONFIG": str(settings), "TMPDIR": str(work)}
    text = environment.lock.read_text()
    builders = work / "builders.txt"
    builders.write_text(
        "".join(requirement(text, name) for name in ("packaging", "setuptools", "wheel"))
    )
    total = len(re.findall(r"^[A-Za-z0-9._-]+==", text, re.MULTILINE))
    seen = 0

    def follow(line: str) -> None:
        nonlocal seen
        if found := re.match(r"Collecting ([A-Za-z0-9._-]+)==", line):
            seen += 1
            say(f"packages {seen} of {total}: {found[1]}")
        elif found := re.match(r"Building wheels? for (?:collected packages: )?(\S+)", line):
            say(f"building {found[1].rstrip(',')}")
        elif line.startswith("Installing collected packages"):
            say("unpacking packages")

    def run(*arguments: str) -> None:
        pip.install(
            environment.python, arguments, log=environment.log, environ=variables, on_line=follow
        )

    # Compiled here and not when first imported: containers like to say that Python shall write no
    # byte code, and then each of the hundreds of processes of a run would compile it all again.
    hashed = ("--require-hashes", "--no-build-isolation", "--requirement")
    say("packages that build others")
    run(*hashed, str(builders))
    run(*hashed, str(environment.lock))
    say("onceproof itself")
    run("--no-deps", "--no-build-isolation", "--no-index", "--editable", str(environment.root))
    cache.remove(work)


def requirement(lock: str, name: str) -> str:
    """One package's entry in the lock, with its hashes."""
    found = re.search(rf"^{re.escape(name)}==.*?(?=^\S|\Z)", lock, re.MULTILINE | re.DOTALL)
    return found[0] if found else ""
