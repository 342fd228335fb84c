"""Find a Java that can run Kafka and Spark, or tell which command installs one.

This module uses only the standard library, because the bootstrap needs it before any download.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from onceproof.harness.tools.error import SetupError

MINIMUM = 17
TOO_NEW = 24
"""Hadoop's client in Spark 4.0 needs the security manager, which Java 24 has removed."""

USUAL_FOLDERS = (Path("/usr/lib/jvm"), Path("/usr/java"), Path("/opt/java"))
OS_RELEASE = Path("/etc/os-release")


@dataclass(frozen=True, kw_only=True)
class Java:
    """A Java runtime, which may not fit."""

    program: Path
    home: Path
    version: str

    @property
    def major(self) -> int:
        return major(self.version)

    @property
    def fits(self) -> bool:
        return MINIMUM <= self.major < TOO_NEW


def parse(output: str) -> str | None:
    """Return the version in the output of any vendor's `java -version`, or None."""
    found = re.search(r'^\S.* version "([^"]+)"', output, re.MULTILINE)
    return found[1] if found else None


def major(version: str) -> int:
    """Return 17 for 17.0.15, 8 for 1.8.0_292, 0 if there is no number."""
    numbers = [int(n) for n in re.findall(r"\d+", version)[:2]]
    if len(numbers) == 2 and numbers[0] == 1:
        return numbers[1]
    return numbers[0] if numbers else 0


def look_at(program: Path) -> Java | None:
    """Inspect a `java`; return None if it does not work.

    A JDK has a file with its version, since running the program takes 0.1 s.
    """
    if not (os.access(program, os.X_OK) and program.is_file()):
        return None
    home = program.resolve().parent.parent
    try:
        release = (home / "release").read_text(errors="replace")
    except OSError:
        return _run_java(program)
    found = re.search(r'^JAVA_VERSION="([^"]+)"', release, re.MULTILINE)
    return Java(program=home / "bin" / "java", home=home, version=found[1]) if found else None


def _run_java(program: Path) -> Java | None:
    try:
        answer = subprocess.run(
            [program, "-XshowSettings:properties", "-version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    output = answer.stderr + answer.stdout
    version = parse(output)
    home = re.search(r"^\s*java\.home = (.+)$", output, re.MULTILINE)
    if version is None or home is None:
        return None
    return Java(program=program, home=Path(home[1].strip()), version=version)


def find(
    environ: Mapping[str, str] = os.environ,
    *,
    folders: Sequence[Path] = USUAL_FOLDERS,
    os_release: Path = OS_RELEASE,
    look: Callable[[Path], Java | None] = look_at,
) -> Java:
    """Return the first Java that fits, from JAVA_HOME, PATH, and the usual folders."""
    unsupported: list[Java] = []
    for program in _candidates(environ, folders):
        java = look(program)
        if java is None:
            continue
        if java.fits:
            return java
        unsupported.append(java)
    raise SetupError(f"{_problem(environ, unsupported)} {advice(os_release)}")


def _candidates(environ: Mapping[str, str], folders: Sequence[Path]) -> Iterator[Path]:
    if home := environ.get("JAVA_HOME"):
        yield Path(home) / "bin" / "java"
    for entry in environ.get("PATH", "").split(os.pathsep):
        if entry:
            yield Path(entry) / "java"
    for folder in folders:
        yield from sorted(folder.glob("*/bin/java"))


def _problem(environ: Mapping[str, str], unsupported: Sequence[Java]) -> str:
    if unsupported:
        java = unsupported[0]
        kind = "too old" if java.major < MINIMUM else "too new for Spark 4.0"
        return f"Java {java.version} ({java.program}) is {kind}."
    home = environ.get("JAVA_HOME")
    where = f"none at JAVA_HOME={home}" if home else "JAVA_HOME is not set"
    return f"No Java was found ({where}, and PATH has none)."


def advice(os_release: Path = OS_RELEASE) -> str:
    needs = f"Kafka and Spark need Java {MINIMUM} to {TOO_NEW - 1}"
    command = install_command(os_release)
    if command is None:
        return f"{needs}: install a JDK and point JAVA_HOME to it, then try again."
    if os.geteuid() != 0:
        command = f"sudo {command}"
    return f"{needs}: install one with `{command}`, or point JAVA_HOME to one, then try again."


def install_command(os_release: Path = OS_RELEASE) -> str | None:
    facts = _os_facts(os_release)
    kinds = [facts.get("ID", ""), *facts.get("ID_LIKE", "").split()]
    release = facts.get("VERSION_ID", "")
    for kind in kinds:
        match kind:
            case "debian" if facts.get("ID") == "debian" and release in ("11", "12"):
                return "apt-get install -y openjdk-17-jdk-headless"
            case "debian" | "ubuntu":
                return "apt-get install -y openjdk-21-jdk-headless"
            case "fedora" | "rhel" | "centos" | "amzn":
                package = "java-21-amazon-corretto" if kind == "amzn" else "java-21-openjdk"
                return f"dnf install -y {package}-devel"
            case "suse" | "opensuse" | "sles":
                return "zypper install -y java-21-openjdk-devel"
            case "arch":
                return "pacman -S --noconfirm jdk21-openjdk"
            case "alpine":
                return "apk add openjdk21"
            case _:
                continue
    return None


def _os_facts(file: Path) -> dict[str, str]:
    try:
        lines = file.read_text(errors="replace").splitlines()
    except OSError:
        return {}
    pairs = (line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
    return {name.strip(): value.strip().strip("\"'") for name, value in pairs}
