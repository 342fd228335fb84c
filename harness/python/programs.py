"""Create the environment of a program of this folder, when it is needed for the first time.

Its packages are pinned by a lock of the same name. The environments are cached with the downloads,
and created again when a lock or the Python has changed.
"""

from __future__ import annotations

import platform
import re
import sys
from pathlib import Path
from typing import Final

from onceproof.harness.tools import cache, pip, virtualenv
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.progress import Progress, Step, silent

SOURCES: Final = Path(__file__).resolve().parent


def command(
    name: str, *arguments: str | Path, cache_folder: Path | None = None, progress: Progress = silent
) -> list[str | Path]:
    """Return the command of the program `name`.py, with the packages of `name`.lock.

    Args:
        cache_folder: for the environments (default: the cache of the downloads).

    Raises:
        SetupError: a package is not available.
    """
    lock = SOURCES / f"{name}.lock"
    python = f"{platform.python_version()}-{platform.machine()}"
    folder = f"{name}-{python}-{cache.state_of([lock], SOURCES)}"
    at = (cache_folder or cache.location()) / "python" / folder

    def build(folder: Path) -> None:
        progress(Step(tool=name, message="installing packages"))
        virtualenv.create(folder, "--without-pip")
        try:
            pip.install(
                Path(sys.executable),
                [
                    *("--quiet", "--only-binary", ":all:", "--require-hashes"),
                    *("--target", str(folder / virtualenv.SITE), "--requirement", str(lock)),
                ],
            )
        except SetupError as error:
            raise SetupError(f"{name}: {error}") from error

    environment = cache.install(at, build)
    # Isolated: neither the user's variables nor this folder lead to other packages.
    return [environment / "bin" / "python", "-I", SOURCES / f"{name}.py", *arguments]


def version_of(name: str, package: str) -> str:
    """Return the version of a package that a program uses, such as 3.28.1."""
    found = re.search(
        rf"^{re.escape(package)}==(\S+)", (SOURCES / f"{name}.lock").read_text(), re.MULTILINE
    )
    assert found is not None, f"{package} is not in {name}.lock"
    return found[1]
