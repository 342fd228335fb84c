"""Check what this machine has, what is missing, and what to do about it.

`examine` changes and downloads nothing. It is slower than `setup.ensure`, because it computes every
checksum and runs every program for its version.
"""

from __future__ import annotations

import os
import platform
import shutil
import socket
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from onceproof.harness.tools import (
    cache,
    go,
    jar_lock,
    jars,
    java,
    postgres,
    private_network,
    toxiproxy,
)
from onceproof.harness.tools.error import SetupError

GIB = 1 << 30
NEEDED_MEMORY = 2 * GIB  # three brokers, a Spark driver, and a database
NEEDED_DISK = 2 * GIB
NEEDED_CORES = 2


class Status(StrEnum):
    """The severity of a finding."""

    OK = "ok"
    NOTE = "note"  # runs work
    PROBLEM = "problem"  # runs do not work


@dataclass(frozen=True, kw_only=True)
class Finding:
    """The result of one check."""

    name: str
    status: Status
    detail: str
    advice: str = ""


Check = Callable[[], Finding]
Leftovers = Callable[[], Sequence[str]]
"""Returns what earlier runs left behind: processes, folders, loopback blocks."""


def examine(
    *,
    cache_folder: Path | None = None,
    runs: Path | None = None,
    environ: Mapping[str, str] = os.environ,
    leftovers: Leftovers | None = None,
) -> list[Finding]:
    """Run all checks; that of leftovers only if the function to find them is given."""
    folder = cache_folder or cache.location(environ)
    checks: list[tuple[str, Check]] = [
        ("system", check_system),
        ("Python", check_python),
        ("Java", lambda: check_java(environ)),
        ("cores", check_cores),
        ("memory", check_memory),
        ("disk", lambda: check_disk([folder, runs or Path.cwd()])),
        ("loopback", check_loopback),
        ("Kafka jars", lambda: check_jars("kafka", jar_lock.KAFKA, folder)),
        ("Spark connector", lambda: check_connector(folder)),
        ("toxiproxy", lambda: check_toxiproxy(folder)),
        ("PostgreSQL", check_postgres),
        ("Go", lambda: check_go(environ)),
        ("Docker", lambda: check_docker(environ)),
        ("private network", check_private_network),
    ]
    if leftovers is not None:
        checks.append(("leftovers", lambda: check_leftovers(leftovers())))
    return [_run(name, check) for name, check in checks]


def _run(name: str, check: Check) -> Finding:
    try:
        return check()
    except (SetupError, OSError) as error:
        return Finding(name=name, status=Status.PROBLEM, detail=str(error))


def check_system() -> Finding:
    # Processes, loopback blocks and the reaper need Linux.
    detail = f"{platform.system()} {platform.release()}, {platform.machine()}"
    if sys.platform != "linux":
        advice = (
            "All runs need Linux, including those on Docker. Other systems can only judge "
            "histories, with `onceproof check`."
        )
        return Finding(name="system", status=Status.PROBLEM, detail=detail, advice=advice)
    return Finding(name="system", status=Status.OK, detail=detail)


def check_python() -> Finding:
    return Finding(name="Python", status=Status.OK, detail=platform.python_version())


def check_java(environ: Mapping[str, str]) -> Finding:
    found = java.find(environ)
    detail = f"{found.version} ({found.home})"
    return Finding(name="Java", status=Status.OK, detail=detail)


def check_cores() -> Finding:
    cores = len(os.sched_getaffinity(0))
    enough = cores >= NEEDED_CORES
    return Finding(
        name="cores",
        status=Status.OK if enough else Status.NOTE,
        detail=str(cores),
        advice="" if enough else "Runs will be slow, and some may time out.",
    )


def check_memory(meminfo: Path = Path("/proc/meminfo")) -> Finding:
    lines = (line.split() for line in meminfo.read_text().splitlines())
    amounts = {words[0]: int(words[1]) * 1024 for words in lines if len(words) > 1}
    free = amounts.get("MemAvailable:", 0)
    enough = free >= NEEDED_MEMORY
    return Finding(
        name="memory",
        status=Status.OK if enough else Status.NOTE,
        detail=f"{free / GIB:.1f} GiB available",
        advice="" if enough else "A run needs 1 to 2 GiB: close other programs.",
    )


def check_disk(folders: Iterable[Path], *, needed: int = NEEDED_DISK) -> Finding:
    free = {folder: shutil.disk_usage(_existing(folder)).free for folder in folders}
    fullest = min(free, key=lambda folder: free[folder])
    enough = free[fullest] >= needed
    return Finding(
        name="disk",
        status=Status.OK if enough else Status.NOTE,
        detail=f"{free[fullest] / GIB:.1f} GiB free at {fullest}",
        advice="" if enough else f"Free space: runs need {needed / GIB:.0f} GiB for their logs.",
    )


def _existing(folder: Path) -> Path:
    return next(f for f in (folder, *folder.absolute().parents) if f.exists())


def check_loopback() -> Finding:
    # Each run reserves a block of 127.x addresses.
    address = "127.77.1.3"
    try:
        with socket.create_server((address, 0)) as server:
            socket.create_connection(server.getsockname(), timeout=2).close()
    except OSError as error:
        return Finding(
            name="loopback",
            status=Status.PROBLEM,
            detail=f"{address} cannot be used: {error}",
            advice="The interface lo must have the whole block 127.0.0.0/8.",
        )
    return Finding(name="loopback", status=Status.OK, detail="127.x addresses can be used")


def check_jars(name: str, version: str, cache_folder: Path) -> Finding:
    wanted = jar_lock.load(name, version)
    folder = jars.folder_of(wanted, cache_folder)
    if not folder.is_dir():
        return _missing(wanted.title)
    if wrong := jars.damage(wanted, folder, thorough=True):
        return Finding(
            name=wanted.title,
            status=Status.PROBLEM,
            detail="; ".join(wrong),
            advice=f"Remove the folder {folder}, then download it again with `make setup`.",
        )
    detail = f"{len(wanted.sums)} jars, all checksums match"
    return Finding(name=wanted.title, status=Status.OK, detail=detail)


def _missing(name: str) -> Finding:
    return Finding(
        name=name,
        status=Status.NOTE,
        detail="not installed yet",
        advice="`make setup` or the first run installs it.",
    )


def check_connector(cache_folder: Path) -> Finding:
    return check_jars("spark-kafka", jar_lock.installed_pyspark().version, cache_folder)


def check_toxiproxy(cache_folder: Path) -> Finding:
    program = toxiproxy.program_in(cache_folder)
    if not program.exists():
        return _missing("toxiproxy")
    reported = toxiproxy.reported_version(program)
    if reported != toxiproxy.VERSION:
        return Finding(
            name="toxiproxy",
            status=Status.PROBLEM,
            detail=f"{program} reports version {reported or 'unknown'}, expected "
            f"{toxiproxy.VERSION}",
            advice=f"Remove the folder {program.parent}, then build it again with `make setup`.",
        )
    return Finding(name="toxiproxy", status=Status.OK, detail=reported)


def check_postgres() -> Finding:
    """Check the programs in the wheel; `setup` makes the copies for `nobody`."""
    wheel = postgres.find_wheel()
    detail = f"{postgres.run_version(wheel.bin, None)} ({wheel.bin})"
    return Finding(name="PostgreSQL", status=Status.OK, detail=detail)


def check_go(environ: Mapping[str, str]) -> Finding:
    found = go.in_path(environ)
    if found is not None and go.fits(found.version, toxiproxy.MINIMUM):
        return Finding(name="Go", status=Status.OK, detail=f"{found.version} ({found.program})")
    detail = "not in PATH" if found is None else f"{found.version} is too old"
    advice = "Not required: to build toxiproxy, onceproof downloads a Go toolchain as a wheel."
    return Finding(name="Go", status=Status.NOTE, detail=detail, advice=advice)


def check_docker(environ: Mapping[str, str]) -> Finding:
    from onceproof.harness.tools.docker_engine import connect  # slow to import

    try:
        engine = connect(environ)
    except SetupError as error:
        return Finding(
            name="Docker",
            status=Status.NOTE,
            detail=str(error).partition(". ")[0],
            advice="Only required for runs with `--backend docker`.",
        )
    detail = f"engine {engine.version}, compose {engine.compose} ({engine.host})"
    return Finding(name="Docker", status=Status.OK, detail=detail)


def check_private_network() -> Finding:
    name = "private network"
    protects = "--private keeps other users away from brokers, proxies and Kafka Connect"
    if (why := private_network.trouble()) is None:
        return Finding(name=name, status=Status.OK, detail=protects)
    advice = "docs/explanation/limits.md lists what other users can reach without --private."
    return Finding(name=name, status=Status.NOTE, detail=why, advice=advice)


def check_leftovers(found: Sequence[str]) -> Finding:
    if not found:
        return Finding(name="leftovers", status=Status.OK, detail="none")
    advice = "The next run or `onceproof clean --yes` removes them."
    return Finding(name="leftovers", status=Status.NOTE, detail="; ".join(found), advice=advice)
