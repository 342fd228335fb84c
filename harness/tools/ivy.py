"""Download jars with Apache Ivy, which PySpark bundles, so that Maven is not needed.

Ivy downloads one file at a time, at 0.1 s each. Since the lock leaves nothing to resolve, several
Ivy processes share the jars.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from xml.sax.saxutils import quoteattr

from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.jvm import jvm

SETTINGS = "ONCEPROOF_IVY_SETTINGS"
"""Environment variable with the path of the user's Ivy settings (mirror, credentials)."""
SHARE = 12
"""Jars per Ivy process; with fewer, another JVM's start costs more than it saves."""

Count = Callable[[int], None]
"""Called with the number of newly downloaded jars."""
_ENDED_BY_SIGNAL: Final = frozenset({-2, -9, -15, 130, 143})
"""Exit statuses of a Java that was killed, which must not be retried."""


@dataclass(frozen=True, kw_only=True, order=True)
class Coordinate:
    """A jar's Maven coordinate."""

    group: str
    artifact: str
    version: str

    def __str__(self) -> str:
        return f"{self.group}:{self.artifact}:{self.version}"

    @classmethod
    def parse(cls, text: str) -> Coordinate:
        group, artifact, version = text.split(":")
        return cls(group=group, artifact=artifact, version=version)

    @property
    def file_name(self) -> str:
        return f"{self.artifact}-{self.version}.jar"


@dataclass(frozen=True, kw_only=True)
class Ivy:
    """The jar of Ivy, and the Java that runs it."""

    java: Path
    jar: Path

    def resolve(
        self,
        roots: Sequence[Coordinate],
        folder: Path,
        *,
        name: str,
        count: Count = lambda more: None,
    ) -> dict[Coordinate, Path]:
        """Download jars and their dependencies."""
        return self._run(roots, folder / "0", name=name, transitive=True, count=count)

    def fetch(
        self, jars: Sequence[Coordinate], folder: Path, *, name: str, count: Count
    ) -> dict[Coordinate, Path]:
        shares = max(1, -(-len(jars) // SHARE))
        with ThreadPoolExecutor(shares) as pool:
            jobs = [
                pool.submit(
                    self._run,
                    jars[share::shares],
                    folder / str(share),
                    name=name,
                    transitive=False,
                    count=count,
                )
                for share in range(shares)
            ]
        return {jar: path for job in jobs for jar, path in job.result().items()}

    def _run(
        self,
        jars: Sequence[Coordinate],
        folder: Path,
        *,
        name: str,
        transitive: bool,
        count: Count,
    ) -> dict[Coordinate, Path]:
        folder.mkdir(parents=True)
        (folder / "ivy.xml").write_text(_module(jars, transitive=transitive))
        output = ""
        for _attempt in range(2):  # downloaded jars are in Ivy's cache
            exit_code, output = self._run_once(folder, count)
            if exit_code == 0:
                return _collect(folder / "libs")
            if exit_code in _ENDED_BY_SIGNAL:
                break
        raise SetupError(explain(output, name=name))

    def _run_once(self, folder: Path, count: Count) -> tuple[int, str]:
        command = [
            *jvm(self.java, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"),
            # Otherwise Ivy also reads the user's ~/.ivy2.
            f"-Divy.default.ivy.user.dir={folder / 'home'}",
            "-jar",
            str(self.jar),
            *(("-settings", chosen) if (chosen := os.environ.get(SETTINGS)) else ()),
            *("-cache", str(folder / "cache"), "-ivy", str(folder / "ivy.xml")),
            *("-confs", "default"),
            # Without the classifier, Netty's native jars would overwrite the main jar.
            "-retrieve",
            f"{folder}/libs/[organisation]/[artifact]/[revision]/main(-[classifier]).[ext]",
        ]
        lines: list[str] = []
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                lines.append(line)
                if "[SUCCESSFUL ]" in line:
                    count(1)
        return process.returncode, "".join(lines)


def _module(jars: Sequence[Coordinate], *, transitive: bool) -> str:
    conf = "default" if transitive else "default->master"
    return "\n".join(
        [
            '<ivy-module version="2.0"><info organisation="onceproof" module="set"/>',
            '<configurations><conf name="default"/></configurations><dependencies>',
            *(
                f"<dependency org={quoteattr(jar.group)} name={quoteattr(jar.artifact)} "
                f"rev={quoteattr(jar.version)} transitive={quoteattr(str(transitive).lower())} "
                f"conf={quoteattr(conf)}/>"
                for jar in jars
            ),
            "</dependencies></ivy-module>",
        ]
    )


def _collect(libs: Path) -> dict[Coordinate, Path]:
    return {
        Coordinate(group=file.parts[-4], artifact=file.parts[-3], version=file.parts[-2]): file
        for file in sorted(libs.glob("*/*/*/main.jar"))
    }


def explain(output: str, *, name: str) -> str:
    if re.search(r"No space left on device|Disk quota exceeded", output):
        return f"The disk is full while downloading the jars of {name}. Free space, then try again."
    absent = re.findall(r"^\s*:: (\S+#\S+;\S+?): not found", output, re.MULTILINE)
    network = re.search(
        r"Host \S+ not found|UnknownHost|ConnectException|NoRouteToHost|SocketTimeout"
        r"|Connection (?:refused|reset)|timed out|SSLHandshake|Server access error",
        output,
        re.IGNORECASE,
    )
    if network:
        return (
            f"The jars of {name} could not be downloaded: no Maven repository can be reached "
            f"({network[0]}). Check the network, or set {SETTINGS} to an Ivy settings file that "
            "names a mirror, then try again."
        )
    if absent:
        return (
            f"The Maven repository does not have {absent[0].replace('#', ':').replace(';', ':')}, "
            f"which {name} needs. Set {SETTINGS} to an Ivy settings file that names another "
            "repository, then try again."
        )
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if re.search("exception|error", line, re.IGNORECASE)]
    reason = next(iter(errors or lines[-1:]), "it printed nothing")
    return f"Ivy could not download the jars of {name}: {reason.rstrip('.')}."
