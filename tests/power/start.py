"""How a program of a pair is started, by the ending of its file.

What it needs beside a toolchain (packages of Node, a program in Go or Java that is compiled) is
made by the ordinary clients when it is first needed, and kept in the cache of onceproof.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from shlex import quote
from typing import Final

from onceproof.harness.subjects.spark.driver import CONFIGURATION
from onceproof.harness.subjects.spark.subject import JOBS
from onceproof.harness.tools import jar_lock, jars
from onceproof.harness.tools.cache import install, location
from onceproof.harness.tools.ivy import Ivy
from onceproof.harness.tools.jars_for import jars_for, kafka_jars
from onceproof.harness.tools.setup import ensure
from tests.power.catalogue import FOLDER

_JDBC: Final = "42.7.14"
_SECONDS: Final = 600
_JVM: Final = ("-Xmx200m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""Small and quickly there: a trial starts a program a dozen times."""


class MissingTool(RuntimeError):
    """A program cannot be started here; the text says what is missing."""


def command(program: Path, arguments: Sequence[str]) -> tuple[str, ...]:
    """The command of a pipeline, as behind the `--` of `onceproof verify`.

    Raises:
        MissingTool: its toolchain is not here, or what it needs cannot be fetched.
    """
    return (*_run(program), *arguments)


def _run(program: Path) -> tuple[str, ...]:
    match program.suffix:
        case ".py" if program.parent == JOBS:
            python = f"PYSPARK_PYTHON={sys.executable}"  # of tasks, which may have another one
            return (
                "env",
                f"PYSPARK_SUBMIT_ARGS={_submitted()}",
                python,
                sys.executable,
                str(program),
            )
        case ".py":
            return sys.executable, str(program)
        case ".java" if _of_flink(program):
            path = f"{_classes(program)}:{_jars(program)}/*"
            return _tool("java"), *_JVM, "-Xmx400m", "-cp", path, "Copy"
        case ".java":
            path = f"{_classes(program)}:{{kafka_jars}}:{_jdbc_driver()}/*"
            return _tool("java"), *_JVM, "-cp", path, "Copy"
        case ".js":
            return "env", f"NODE_PATH={_node_modules()}", _tool("node"), str(program)
        case ".go":
            return (str(_built(program)),)
    raise MissingTool(f"{program}: nobody knows how to start a file with this ending")


def _submitted() -> str:
    """What our own jobs leave to whoever submits them."""
    settings = (quote(f"{name}={value}") for name, value in CONFIGURATION.items())
    return " ".join(
        ["--jars {spark_jars}", *(f"--conf {each}" for each in settings), "pyspark-shell"]
    )


def _tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise MissingTool(f"{name} is not on this machine")
    return found


@cache
def _node_modules() -> Path:
    lock = FOLDER / "package-lock.json"
    folder = location() / "power" / f"node-{_sum(lock.read_bytes())}"

    def fetch(into: Path) -> None:
        for name in ("package.json", lock.name):
            shutil.copy(FOLDER / name, into)
        _do([_tool("npm"), "ci", "--ignore-scripts", "--no-audit", "--no-fund"], into)

    return install(folder, fetch) / "node_modules"


@cache
def _built(program: Path) -> Path:
    sums = (FOLDER / "go.sum").read_bytes()
    folder = location() / "power" / f"go-{_sum(program.read_bytes() + sums)}"
    place = str(program.relative_to(FOLDER))

    def build(into: Path) -> None:
        _do([_tool("go"), "build", "-o", str(into / "pipeline"), place], FOLDER)

    return install(folder, build) / "pipeline"


@cache
def _jdbc_driver() -> Path:
    wanted = jar_lock.load("postgresql-jdbc", _JDBC, lock=FOLDER / "jars.lock.json")
    ivy = Ivy(java=Path(_tool("java")), jar=jar_lock.installed_pyspark().ivy)
    return jars.with_ivy(wanted, ivy, cache_folder=location())


@cache
def _classes(program: Path) -> Path:
    jars = _jars(program)
    folder = location() / "power" / f"java-{_sum(program.read_bytes() + jars.name.encode())}"
    compiler = [_tool("javac"), "-nowarn", "-cp", f"{jars}/*"]
    return install(folder, lambda into: _do([*compiler, "-d", str(into), str(program)], into))


def _jars(program: Path) -> Path:
    """What it is compiled with."""
    tools = ensure()
    return (
        jars_for(tools, "flink", next(iter(jar_lock.FLINK)))
        if _of_flink(program)
        else kafka_jars(tools)
    )


def _of_flink(program: Path) -> bool:
    return b"import org.apache.flink." in program.read_bytes()


def _do(words: Sequence[str], folder: Path) -> None:
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=_SECONDS)
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
        raise MissingTool(f"`{' '.join(words[:3])} …` failed: {' '.join(last)}")


def _sum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]
