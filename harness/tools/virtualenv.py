"""Create and update the project's `.venv` from a lock with pip.

A stamp in the folder has the fingerprint of what it was made from, or marks it as unfinished; an
unfinished one is recreated. This module uses only the standard library, because it runs before
anything is installed.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from onceproof.harness.tools import cache, pip
from onceproof.harness.tools.error import SetupError, from_os
from onceproof.harness.tools.marks import STAMP

GIB = 1 << 30
NEEDED_DISK = 3 * GIB
"""PySpark alone needs 0.4 GB four times: as archive, unpacked, as wheel, and installed."""
UNFINISHED = "unfinished"
SITE = f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
STDERR = 2
"""File descriptor: `sys.stderr` has none where pytest captures it."""

Say = Callable[[str], None]
Install = Callable[["Environment", Say], None]


@dataclass(frozen=True, kw_only=True)
class Environment:
    """The paths of a project.

    Attributes:
        development: whether it also has the packages for tests, lint and documentation.
    """

    root: Path
    development: bool = True

    @property
    def folder(self) -> Path:
        return self.root / ".venv"

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def command(self) -> Path:
        return self.folder / "bin" / "onceproof"

    @property
    def lock(self) -> Path:
        return self.root / (
            "requirements.txt" if self.development else "harness/tools/harness.lock"
        )

    @property
    def stamp(self) -> Path:
        """The fingerprint of what it was made from."""
        return self.folder / STAMP


def fingerprint(environment: Environment, *, python: str = "") -> str:
    """Return a hash that changes whenever the environment must be updated.

    It includes the path, because a virtual environment cannot be moved.
    """
    parts = [
        python or f"{platform.python_version()} {platform.machine()}",
        str(environment.folder.resolve()),
        environment.lock.read_text(),
        (environment.root / "pyproject.toml").read_text(),
    ]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def ensure(environment: Environment, say: Say, *, install: Install | None = None) -> bool:
    """Create or update the environment; return False if it was up to date."""
    try:
        guard = environment.root / ".venv.lock"
        with cache.locked(guard, waiting=lambda: say("waiting for another set-up to finish")):
            wanted = fingerprint(environment)
            # One for development has the same versions of everything else.
            enough = {wanted, fingerprint(replace(environment, development=True))}
            if _read_stamp(environment) in enough and not missing(environment):
                return False
            check_disk(environment.root)
            _prepare(environment, say)
            (install or from_lock)(environment, say)
            environment.stamp.write_text(wanted + "\n")
    except OSError as error:
        raise from_os(error, doing=f"creating {environment.folder}") from error
    return True


def _read_stamp(environment: Environment) -> str:
    try:
        return environment.stamp.read_text().strip()
    except OSError:
        return ""


def missing(environment: Environment) -> list[str]:
    """Return the locked packages that are not installed; all of them if Python is missing."""
    if not environment.command.exists() or not environment.python.exists():
        return pinned(environment.lock.read_text())
    return not_installed(environment.folder, environment.lock.read_text())


def pinned(lock: str) -> list[str]:
    """Return the `name==version` of each package in a lock that every system needs."""
    # Lines with a marker are skipped: they may be for other systems.
    return re.findall(r"^([A-Za-z0-9._-]+==[^\s;]+)(?: \\)?$", lock, re.MULTILINE)


def not_installed(folder: Path, lock: str) -> list[str]:
    """Return the packages of a lock that an environment does not have."""
    installed = {_normalized(path.stem) for path in (folder / SITE).glob("*.dist-info")}
    return [each for each in pinned(lock) if _normalized(each) not in installed]


def _normalized(text: str) -> str:
    """Normalize `name==1.0` of a lock and `Name-1.0` of a folder to the same text."""
    return re.sub(r"[-_.=]+", "-", text).lower()


def check_disk(root: Path) -> None:
    """Raise `SetupError` if there is no room for an environment in a folder."""
    free = shutil.disk_usage(root).free
    if free < NEEDED_DISK:
        raise SetupError(
            f"{root} has only {free / GIB:.1f} GiB free, but the set-up needs "
            f"{NEEDED_DISK / GIB:.0f} GiB. Free space, then try again."
        )


def _prepare(environment: Environment, say: Say) -> None:
    """Create a working virtual environment, and mark it as unfinished."""
    if environment.folder.exists() and not _is_usable(environment):
        say("removing a broken or incomplete .venv")
        cache.remove(environment.folder)
    if not environment.folder.exists():
        say("creating .venv")
        _create(environment)
    environment.stamp.write_text(UNFINISHED + "\n")


def _is_usable(environment: Environment) -> bool:
    """Return whether pip can update it, which is faster than a new one."""
    if _read_stamp(environment) == UNFINISHED:
        return False
    probe = "import pip, sys; print(sys.prefix, sys.version_info[:2])"
    try:
        answer = subprocess.check_output(
            [environment.python, "-I", "-c", probe], stderr=subprocess.DEVNULL, text=True
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return answer.strip() == f"{environment.folder.resolve()} {sys.version_info[:2]}"


def _create(environment: Environment) -> None:
    try:
        create(environment.folder)
    except SetupError:
        cache.remove(environment.folder)
        raise


def create(folder: Path, *options: str) -> None:
    """Create a virtual environment; raise `SetupError` if that fails."""
    command = [sys.executable, "-m", "venv", *options, str(folder)]
    if subprocess.run(command, stdout=STDERR, check=False).returncode:
        raise SetupError(f"The virtual environment {folder} could not be created.")


def from_lock(environment: Environment, say: Say) -> None:
    """Install the locked packages, then the project itself as an editable install."""
    log = environment.folder / "onceproof-setup.log"
    say("installing Python packages")
    install_locked(environment.python, environment.lock, work=environment.folder, log=log)
    own = ("--no-deps", "--no-build-isolation", "--no-index", "-e", str(environment.root))
    pip.install(environment.python, own, log=log)


def install_locked(
    python: Path, lock: Path, *, work: Path, log: Path | None = None, to: int | None = None
) -> None:
    """Install all packages of a lock, which includes the build tools that they need.

    `work` is a folder that has room for the builds; `log` and `to` are as in `pip.install`.

    Raises:
        SetupError: pip failed.
    """
    hashed = ("--require-hashes", "--no-build-isolation", "--requirement")
    with tempfile.TemporaryDirectory(dir=work) as builds:
        settings, builders = Path(builds, "build.cfg"), Path(builds, "builders.txt")
        # PySpark is only published as source; an uncompressed wheel halves its build time.
        settings.write_text("[bdist_wheel]\ncompression = stored\n")
        variables = {**os.environ, "DIST_EXTRA_CONFIG": str(settings), "TMPDIR": builds}
        # Packages that the user's variables lead to would count as installed.
        for name in ("PYTHONPATH", "PYTHONHOME"):
            variables.pop(name, None)
        # The build tools are also in the lock, and are installed first.
        text = lock.read_text()
        names = ("packaging", "setuptools", "wheel")
        builders.write_text("".join(requirement(text, name) for name in names))
        # Byte code is compiled now: containers often disable it (PYTHONDONTWRITEBYTECODE), and
        # then each process of a run would compile everything again.
        for wanted in (builders, lock):
            pip.install(python, (*hashed, str(wanted)), log=log, to=to, environ=variables)


def requirement(lock: str, name: str) -> str:
    found = re.search(rf"^{re.escape(name)}==.*?(?=^\S|\Z)", lock, re.MULTILINE | re.DOTALL)
    return found[0] if found else ""
