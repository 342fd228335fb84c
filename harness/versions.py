"""Versions and host, for the record of a run."""

from __future__ import annotations

import os
import platform
from importlib import metadata

import psutil

_PARTS = ("onceproof", "pyspark", "confluent-kafka", "kafka-python", "duckdb", "psycopg")


def versions() -> dict[str, str]:
    """Version of Python and of the packages that a run depends on."""
    found = {"python": platform.python_version()}
    for part in _PARTS:
        try:
            found[part] = metadata.version(part)
        except metadata.PackageNotFoundError:
            found[part] = "not installed"
    return found


def host() -> dict[str, str]:
    """Cores, memory and kernel of this machine; no name and no address."""
    return {
        "cores": str(os.cpu_count()),
        "memory": f"{psutil.virtual_memory().total / 2**30:.0f} GiB",
        "kernel": f"{platform.system()} {platform.release()}",
        "architecture": platform.machine(),
    }
