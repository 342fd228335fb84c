"""Checks of the built distributions, which yield a sentence for each problem.

A missing file shows only when it is needed, on a machine without the repository. So the wheel is
compared with the files of the packages that git knows.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator
from email import message_from_string
from pathlib import Path

from tests.packaging.building import ROOT, Built, sources

PACKAGES = ("harness", "checkers", "reports", "scenarios")
"""Folders of the repository that are packages of `onceproof`."""
_NEWEST = re.compile(r"^## \[(\d[^\]]*)\] - (\d{4}-\d{2}-\d{2})$", re.MULTILINE)
_UNRELEASED = re.compile(r"^## \[Unreleased\]\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)


def version() -> str:
    """The version in `pyproject.toml`."""
    return str(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"])


def wrong(built: Built) -> Iterator[str]:
    """All problems of the two files."""
    with zipfile.ZipFile(built.wheel) as wheel:
        yield from wrong_names(set(wheel.namelist()))
        (metadata,) = (name for name in wheel.namelist() if name.endswith("dist-info/METADATA"))
        yield from wrong_metadata(wheel.read(metadata).decode())
    with tarfile.open(built.sdist) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    yield from (f"the source distribution lacks {name}" for name in sorted(_needed() - names))
    yield from wrong_at_work(built.wheel)


def wrong_names(names: set[str]) -> Iterator[str]:
    """Files that the wheel should not have, and those that it lacks."""
    ours = {name for name in names if ".dist-info/" not in name}
    packaged = set(filter(None, map(_installed, sources())))
    yield from (f"the wheel has {name}, which is none of ours" for name in sorted(ours - packaged))
    yield from (f"the wheel lacks {name}" for name in sorted(packaged - ours))
    if "onceproof/py.typed" not in ours:
        yield "the wheel lacks onceproof/py.typed: it is said to be typed"


def wrong_metadata(text: str) -> Iterator[str]:
    """Wrong metadata of the wheel."""
    metadata = message_from_string(text)
    if metadata["Version"] != version():
        yield f"its version is {metadata['Version']}, and pyproject.toml says {version()}"
    if metadata["Description-Content-Type"] != "text/markdown":
        yield "README.md is not its description"
    if metadata["License-Expression"] != "Apache-2.0":
        yield f"its licence is {metadata['License-Expression']}"
    for requirement in metadata.get_all("Requires-Dist", []):
        if "@" in requirement:
            yield f"it requires {requirement}, which a registry does not have"


def wrong_at_work(wheel: Path) -> Iterator[str]:
    """Commands that fail outside the repository, with the dependencies of this Python."""
    with tempfile.TemporaryDirectory() as folder:
        unpacked = Path(folder) / "installed"
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(unpacked)
        variables = {**os.environ, "PYTHONPATH": str(unpacked), "PYTHONDONTWRITEBYTECODE": "1"}
        probe = (
            "import onceproof.harness.stage.docker_compose as d; print(d.FILE, d.FILE.is_file())"
        )
        bare = (
            "from importlib.util import find_spec\n"
            f"print([name for name in {PACKAGES} if find_spec(name)])"
        )
        for words, expected in (
            (["-m", "onceproof", "--version"], f"onceproof {version()}"),
            (["-m", "onceproof", "list", "spark-kafka-sink"], "spark-kafka-sink"),
            (["-m", "onceproof", "explain", "lost-write"], "lost-write"),
            (["-c", probe], f"{unpacked}/onceproof/harness/stage/docker-compose.yml True"),
            (["-S", "-c", bare], "[]"),
        ):
            done = subprocess.run(
                [sys.executable, "-P", *words],
                capture_output=True, text=True, cwd=folder, env=variables, timeout=120,
            )  # fmt: skip
            if done.returncode or expected not in done.stdout:
                last_line = (done.stderr or done.stdout).strip().splitlines()[-1:]
                yield f"python {' '.join(words)} does not say {expected!r}: {last_line}"


def not_released(changelog: str) -> Iterator[str]:
    """Reasons why this version cannot be released."""
    newest = _NEWEST.search(changelog)
    if newest is None or newest[1] != version():
        found = f"its newest is {newest[1]}" if newest else "it has no version with a date yet"
        yield (
            f"CHANGELOG.md has no section «## [{version()}] - YYYY-MM-DD» on top; {found}. Name "
            "what is under Unreleased so, or raise the version in pyproject.toml"
        )
    unreleased = _UNRELEASED.search(changelog)
    if unreleased and unreleased[1].strip():
        yield "CHANGELOG.md still has entries under Unreleased: move them below the version"


def _installed(name: str) -> str | None:
    """The installed path of a file of the repository; None if it is not installed."""
    top, _, below = name.partition("/")
    if top in PACKAGES:
        return f"onceproof/{name}"
    if top == "src" and below.removeprefix("onceproof/") not in PACKAGES:
        return below
    return None


def _needed() -> set[str]:
    names = sources()
    docs = {name for name in names if name.startswith("docs/")}
    modules = {f"src/{name}" for name in filter(None, map(_installed, names))}
    return (
        docs
        | modules
        | {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "ARCHITECTURE.md"}
    )
