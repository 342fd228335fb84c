"""Python programs of this package in containers, with read-only copies of the modules they need."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Final

IMAGE: Final = "GATE_IMAGE"
"""The variable that names another image; any with Python 3.11 or newer will do."""
PLACE: Final = "/opt/onceproof"
"""Where the modules are mounted."""
_DEFAULT: Final = "python:3.12-slim"
_PACKAGE: Final = Path(__file__).parents[2]
_ALWAYS: Final = ("__init__.py", "harness/__init__.py", "harness/clock.py")


def image() -> str:
    return os.environ.get(IMAGE, _DEFAULT)


def program(module: str) -> list[str]:
    return ["python3", "-u", "-m", module]


def environment() -> dict[str, str]:
    return {"PYTHONPATH": PLACE, "PYTHONDONTWRITEBYTECODE": "1"}


def copy_modules(folder: Path, parts: Iterable[str], packages: Iterable[Path] = ()) -> None:
    """Copy what a container mounts, because the package may consist of links.

    Args:
        parts: files and folders of this package, relative to it.
        packages: folders of other packages.
    """
    ignored = shutil.ignore_patterns("__pycache__")
    for name in (*_ALWAYS, *parts):
        source, target = _PACKAGE / name, folder / "onceproof" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=ignored)
        else:
            shutil.copy2(source, target)
    for package in packages:
        shutil.copytree(package, folder / package.name, ignore=ignored)
    for path in (folder, *folder.rglob("*")):  # root has no rights of its own in the container
        path.chmod(0o755 if path.is_dir() else 0o644)
