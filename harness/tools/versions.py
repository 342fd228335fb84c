"""Collect versions and host details for the record of a run."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Iterable
from functools import cache
from importlib import metadata
from pathlib import Path

_PARTS = ("onceproof", "pyspark", "confluent-kafka", "kafka-python", "duckdb", "psycopg")
_FOLDERS = ("checkers", "harness", "scenarios")
_SUFFIXES = frozenset({".py", ".java", ".json", ".lock", ".sql"})


def versions() -> dict[str, str]:
    found = {"python": platform.python_version(), "code": code()}
    for part in _PARTS:
        try:
            found[part] = metadata.version(part)
        except metadata.PackageNotFoundError:
            found[part] = "not installed"
    return found


@cache
def code() -> str:
    """Return a short hash of checkers, harness and scenarios.

    Unlike a version number, it changes with every edit during development.
    """
    return sum_of(Path(__file__).parents[2] / folder for folder in _FOLDERS)


def sum_of(folders: Iterable[Path]) -> str:
    found = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix in _SUFFIXES and path.is_file():
                content = path.read_bytes()
                name = path.relative_to(folder.parent).as_posix()
                found.update(f"{name} {len(content)}\n".encode() + content)
    return found.hexdigest()[:12]


def host() -> dict[str, str]:
    """Return cores, memory and kernel of this machine, without its name or address."""
    # Not at the top: `onceproof[check]` does without it.
    import psutil

    return {
        "cores": str(os.cpu_count()),
        "memory": f"{psutil.virtual_memory().total / 2**30:.0f} GiB",
        "kernel": f"{platform.system()} {platform.release()}",
        "architecture": platform.machine(),
    }
