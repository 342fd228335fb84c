"""Compile the Java programs of this folder and build their commands.

There is no build tool. The JDK's compiler runs when a source, the jars or the JDK have changed,
which takes a few seconds; the classes are cached with the downloads.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from onceproof.harness.tools import cache
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.jars_for import kafka_jars
from onceproof.harness.tools.java import advice
from onceproof.harness.tools.jvm import jvm
from onceproof.harness.tools.setup import Tools

SOURCES: Final = Path(__file__).parent
COMMON: Final = SOURCES / "common"
"""Sources shared with the programs of clients other than Kafka's."""
CLIENTS: Final = SOURCES / "Clients.java"
"""Connections of Kafka's own client, also for frameworks that use it."""
LOGGING: Final = SOURCES / "log4j2.json"
_COMPILER: Final = "jdk.compiler/com.sun.tools.javac.Main"
_RELEASE: Final = "17"
"""The oldest Java that runs the programs, which may be in a container."""
_COMPILING_SECONDS: Final = 120.0
# A small heap and a fast start: a client lives for seconds.
_JVM: Final = ("-Xmx160m", "-Xms32m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


@dataclass(frozen=True, kw_only=True)
class JavaPrograms:
    """Compiled Java programs."""

    java: Path
    class_path: str

    def command(
        self,
        program: str,
        *arguments: str | Path,
        temporary: Path | None = None,
        options: Sequence[str] = _JVM,
    ) -> list[str | Path]:
        """Return the command that starts the class `program`.

        Args:
            temporary: its folder for temporary files, which it leaves behind when killed.
            options: of the JVM.
        """
        tmpdir = () if temporary is None else (f"-Djava.io.tmpdir={temporary}",)
        return [
            *jvm(self.java, *options, *tmpdir), f"-Dlog4j2.configurationFile={LOGGING.as_uri()}",
            "-cp", self.class_path, program, *arguments,
        ]  # fmt: skip

    def needs(self) -> list[Path]:
        """Return the files and folders that the command reads."""
        entries = map(Path, self.class_path.split(os.pathsep))
        return [LOGGING, *dict.fromkeys(e.parent if e.suffix == ".jar" else e for e in entries)]


def programs_for(tools: Tools) -> JavaPrograms:
    """Return the compiled programs, on any backend.

    Raises:
        SetupError: there is no compiler, or a jar is not available.
    """
    java = tools.java_home / "bin" / "java" if tools.stage is None else tools.stage.java
    return compiled(java, kafka_jars(tools))


def compiled(
    java: Path,
    libs: Path,
    *,
    cache_folder: Path | None = None,
    sources: Sequence[Path] = (SOURCES, COMMON),
) -> JavaPrograms:
    """Compile the programs unless their classes are cached.

    Args:
        java: the program `java` of a JDK.
        libs: folder with the jars of a client, Jackson and Log4j.
        sources: files, and folders of files.
        cache_folder: for the classes (default: the cache of the downloads).

    Raises:
        SetupError: there is no compiler, or the programs do not compile.
    """
    files = sorted(file for at in sources for file in (at.glob("*.java") if at.is_dir() else [at]))
    state = hashlib.sha256(f"{java.resolve()}\n{libs.name}\n".encode())
    for file in files:
        state.update(file.name.encode() + b"\n" + file.read_bytes())
    classes = (cache_folder or cache.location()) / "java" / state.hexdigest()[:16]
    class_path = [str(jar) for jar in sorted(libs.glob("*.jar"))]
    cache.install(classes, lambda folder: _compile(java, files, class_path, folder))
    return JavaPrograms(java=java, class_path=os.pathsep.join([str(classes), *class_path]))


def _compile(java: Path, files: Sequence[Path], class_path: Sequence[str], into: Path) -> None:
    command: list[str | Path] = [
        *jvm(java), "-m", _COMPILER, "-proc:none", "-nowarn", "-encoding", "UTF-8",
        "--release", _RELEASE, "-cp", os.pathsep.join(class_path), "-d", into, *files,
    ]  # fmt: skip
    try:
        ended = subprocess.run(
            command, capture_output=True, text=True, timeout=_COMPILING_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SetupError(f"The Java programs could not be compiled: {error}.") from error
    output = ended.stderr + ended.stdout
    if "jdk.compiler not found" in output:
        raise SetupError(f"{java} has no Java compiler, which the Java clients need. {advice()}")
    if ended.returncode:
        raise SetupError(f"The Java programs do not compile:\n{output.strip()}")
