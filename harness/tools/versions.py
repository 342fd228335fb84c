"""Versions and host, for the record of a run."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Iterable
from functools import cache
from importlib import metadata
from pathlib import Path

import psutil

_PARTS = ("onceproof", "pyspark", "confluent-kafka", "kafka-python", "duckdb", "psycopg")
_FOLDERS = ("checkers", "harness", "scenarios")
_SUFFIXES = frozenset({".py", ".java", ".json", ".lock", ".sql"})


def versions() -> dict[str, str]:
    """Version of Python, of our own code, and of the packages that a run depends on."""
    found = {"python": platform.python_version(), "code": code()}
    for part in _PARTS:
        try:
            found[part] = metadata.version(part)
        except metadata.PackageNotFoundError:
            found[part] = "not installed"
    return found


@cache
def code() -> str:
    """A short sum of what makes and judges a run: the files of checkers, harness and scenarios.

    A version number stands still while code is worked on; this changes with every edit.
    """
    return sum_of(Path(__file__).parents[2] / folder for folder in _FOLDERS)


def sum_of(folders: Iterable[Path]) -> str:
    """A short sum of names and contents of the source files in some folders."""
    found = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix in _SUFFIXES and path.is_file():
                content = path.read_bytes()
                place = path.relative_to(folder.parent).as_posix()
                found.update(f"{place} {len(content)}\n".encode() + content)
    return found.hexdigest()[:12]


def host() -> dict[str, str]:
    """Cores, memory and kernel of this machine; no name and no address."""
    return {
        "cores": str(os.cpu_count()),
        "memory": f"{psutil.virtual_memory().total / 2**30:.0f} GiB",
        "kernel": f"{platform.system()} {platform.release()}",
        "architecture": platform.machine(),
    }
