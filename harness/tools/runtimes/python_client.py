"""Environments in which programs of the harness import a client library of another version.

Each is a small virtual environment: the chosen packages come first, then those of the environment
that the harness runs in. Its Python is the same.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from onceproof.harness.tools import cache, pip, virtualenv
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.jar_lock import PySpark
from onceproof.harness.tools.progress import Progress, Step, silent
from onceproof.harness.tools.runtimes import locks
from onceproof.harness.tools.runtimes.known import FOLDER, numbers

PACKAGES: Final[Mapping[str, tuple[str, str]]] = {
    "librdkafka": ("confluent-kafka", "confluent_kafka"),
    "aiokafka": ("aiokafka", "aiokafka"),
    "kafka-python": ("kafka-python", "kafka"),
    "spark": ("pyspark", "pyspark"),
}
"""Runtime → its distribution and the module that it has."""
_BINDINGS: Final[Mapping[tuple[int, int], str]] = {
    (3, 11): "2.0.2",
    (3, 12): "2.3.0",
    (3, 13): "2.6.0",
}
"""Python → the oldest confluent-kafka with a wheel for it."""
_OLD_PYTHONS: Final = ("311", "310", "39", "38")
"""Pythons for which there are wheels with older librdkafkas, newest first."""
_OVER: Final = "over"
_MARK: Final = "complete"
_PATHS: Final = """import site, sys

for folder in {packages!r}:
    site.addsitedir(folder)
sys.path.insert(0, {over!r})
"""
_OLDER: Final = "import confluent_kafka.older_library\n"


def chosen(
    versions: Mapping[str, str], *, cache_folder: Path, progress: Progress = silent
) -> dict[str, Path]:
    """Return the interpreters of the runtimes of `PACKAGES`; raises as `ensure`."""
    return {
        name: ensure(name, version, cache_folder=cache_folder, progress=progress)
        for name, version in versions.items()
        if name in PACKAGES
    }


def ensure(name: str, version: str, *, cache_folder: Path, progress: Progress = silent) -> Path:
    """Return the interpreter of a runtime, installing it if necessary.

    Raises:
        SetupError: there is no such version for this Python, or it cannot be installed.
    """
    target = cache_folder / FOLDER / f"{name}-{version}-{_place()}"

    def waiting() -> None:
        progress(Step(tool=name, message="waiting for another process to install it"))

    def build(folder: Path) -> None:
        progress(Step(tool=name, message=f"installing {version} into {target.parent}, once"))
        _build(name, version, folder, target, cache_folder)

    cache.install(target, build, usable=lambda at: (at / _MARK).exists(), waiting=waiting)
    progress(Step(tool=name, message=f"{name} {version} is ready", finished=True))
    return target / "bin" / "python"


def pyspark(python: Path) -> PySpark:
    """Return the PySpark of a runtime `spark`, by its interpreter."""
    folder = python.parents[1] / _OVER
    (about,) = folder.glob("pyspark-*.dist-info")
    version = about.name.removeprefix("pyspark-").removesuffix(".dist-info")
    return PySpark(version=version, jars=folder / "pyspark" / "jars")


def _place() -> str:
    """Return a hash of what an environment depends on besides the package."""
    own = Path(__file__).parent
    parts = [platform.python_version(), *_packages(), _PATHS]
    parts += [(own / each).read_text() for each in ("python_client.py", "older_library.py")]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:8]


def _packages() -> list[str]:
    """Return the folders with the harness's own packages."""
    return [sysconfig.get_paths()["purelib"]]


def _build(name: str, version: str, folder: Path, target: Path, cache_folder: Path) -> None:
    virtualenv.create(folder, "--without-pip")
    over = folder / _OVER
    binding = _BINDINGS.get(sys.version_info[:2], version)
    older = name == "librdkafka" and numbers(version) < numbers(binding)
    wanted = binding if older else version
    with tempfile.TemporaryDirectory(dir=folder) as work:
        # First, so that the error for a machine without such wheels names what was asked for.
        wheel = _wheel(version, Path(work)) if older else None
        sums = _install(f"{PACKAGES[name][0]}=={wanted}", over, dependencies=name == "spark")
        if wheel is not None:
            sums |= _older_library(wheel, over)
    # Wheels differ by Python and machine.
    here = f"cp{sys.version_info[0]}{sys.version_info[1]}-{platform.machine()}"
    locks.check(cache_folder, f"{name}-{version}-{here}", sums)
    site = folder / virtualenv.SITE
    paths = _PATHS.format(packages=_packages(), over=str(target / _OVER))
    (site / "_runtime_paths.py").write_text(paths)
    (site / "runtime.pth").write_text("import _runtime_paths\n")
    (folder / _MARK).write_text(_version_of(name, version, folder))


def _install(requirement: str, over: Path, *, dependencies: bool) -> dict[str, str]:
    """Install a package into a folder, and return the sha256 of each file that was downloaded."""
    with tempfile.TemporaryDirectory(dir=over.parent) as work:
        report = Path(work, "report.json")
        arguments = ["--target", str(over), "--report", str(report), "--ignore-installed"]
        arguments += ["--no-build-isolation", *(() if dependencies else ("--no-deps",))]
        try:
            pip.install(Path(sys.executable), [*arguments, requirement])
        except SetupError as error:
            raise SetupError(f"{requirement}: {error}") from error
        found = json.loads(report.read_text())["install"]
    return {
        f"{each['metadata']['name']}=={each['metadata']['version']}": _sha256(each)
        for each in found
    }


def _sha256(installed: Mapping[str, Any]) -> str:
    """Return the hash in an entry of pip's report; pip before 23 has it in another field."""
    about = installed["download_info"].get("archive_info", {})
    found = about.get("hashes", {}).get("sha256") or about.get("hash", "").removeprefix("sha256=")
    if not found:
        raise SetupError(
            f"pip does not tell the sha256 of {installed['metadata']['name']}: update it with "
            "`pip install --upgrade pip`, then try again."
        )
    return str(found)


def _older_library(wheel: Path, over: Path) -> dict[str, str]:
    """Replace the librdkafka of an installed confluent-kafka by that of an older wheel."""
    with tempfile.TemporaryDirectory(dir=over.parent) as work:
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        with zipfile.ZipFile(wheel) as content:
            libraries = [each for each in content.namelist() if re.search(r"\.libs/.", each)]
            content.extractall(work, libraries)
        libs = over / "confluent_kafka.libs"
        (own,) = libs.glob("librdkafka-*")
        for library in libraries:
            into = own if Path(library).name.startswith("librdkafka") else libs / Path(library).name
            shutil.copy(Path(work, library), into)
    shutil.copy(Path(__file__).with_name("older_library.py"), over / "confluent_kafka")
    start = over / "confluent_kafka" / "__init__.py"
    # After the docstring and the import from the future, which must come first.
    text = start.read_text()
    start.write_text(
        re.sub(r"^(?=from \.|from confluent)", _OLDER, text, count=1, flags=re.MULTILINE)
    )
    return {wheel.name: digest}


def _wheel(version: str, folder: Path) -> Path:
    """Download the wheel with an old librdkafka; raise `SetupError` if there is none."""
    machine = platform.machine()
    names = [f"manylinux{old}_{machine}" for old in ("2014", "2010", "1", "_2_17", "_2_28")]
    platforms = [word for each in names for word in ("--platform", each)]
    reasons: list[str] = []
    for python in _OLD_PYTHONS:
        command = [
            sys.executable, "-m", "pip", "download", "--no-input", "--quiet", "--no-deps",
            "--only-binary", ":all:", "--implementation", "cp", "--abi", f"cp{python}",
            "--python-version", python, *platforms, "--dest", str(folder),
            f"confluent-kafka=={version}",
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if found := next(folder.glob("*.whl"), None):
            return found
        reasons.append(done.stderr)
    raise SetupError(f"librdkafka {version}: {pip.explain(reasons[0])}")


def distribution_version(name: str, python: Path) -> tuple[str, str]:
    """Return the distribution of a runtime and its version, such as that of the binding."""
    distribution = PACKAGES[name][0]
    prefix = f"{distribution.replace('-', '_')}-"
    (about,) = (python.parents[1] / _OVER).glob(f"{prefix}*.dist-info")
    return distribution, about.name.removeprefix(prefix).removesuffix(".dist-info")


def exact_version(python: Path) -> str:
    """Return what a runtime says that it is: confluent-kafka 2.16.1 has librdkafka 2.16.0."""
    return (python.parents[1] / _MARK).read_text()


def _version_of(name: str, version: str, folder: Path) -> str:
    """Import the package as a program will, and return the version that it says it is.

    Raises:
        SetupError: the import fails, or it is another minor version.
    """
    module = PACKAGES[name][1]
    asked = "libversion()[0]" if name == "librdkafka" else "__version__"
    over = str(folder / _OVER)
    program = f"import sys; sys.path.insert(0, {over!r}); import {module} as m; print(m.{asked})"
    command: Sequence[str] = [str(folder / "bin" / "python"), "-P", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = done.stdout.strip()
    if done.returncode or numbers(found)[:2] != numbers(version)[:2]:
        reason = done.stderr.strip().splitlines()[-1:] or [f"it says that it is {found}"]
        raise SetupError(
            f"unsupported: {name} {version} does not work with Python "
            f"{platform.python_version()}: {reason[0]}"
        )
    return found
