"""The Flink job beside this file: its jars fetched and it compiled when a run first needs it.

Each version of Flink is a set of jars of its own in the lock, and `setup`
gets none of them: a minute or more that only who puts Flink on trial has to wait for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from onceproof.harness.java.programs import LOGGING, compiled
from onceproof.harness.tools.jars_for import jars_for
from onceproof.harness.tools.jvm import jvm
from onceproof.harness.tools.setup import Tools

SOURCES: Final = Path(__file__).parent
# Job manager, task manager and job in one process: 280 MB resident.
_JVM: Final = ("-Xmx512m", "-Xms64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


@dataclass(frozen=True, kw_only=True)
class FlinkProgram:
    """The compiled job, for one version of Flink."""

    java: Path
    class_path: str

    def command(self, arguments: Sequence[str], *, temporary: Path) -> list[str | Path]:
        """How to start it; what it logs goes to standard error.

        Args:
            arguments: its settings, each as `name=value`.
            temporary: a folder for what it leaves behind when it is killed.
        """
        return [
            *jvm(self.java, *_JVM), f"-Djava.io.tmpdir={temporary}",
            f"-Dlog4j2.configurationFile={LOGGING.as_uri()}",
            "-cp", self.class_path, "PaymentsJob", *arguments,
        ]  # fmt: skip


def program_for(tools: Tools, version: str) -> FlinkProgram:
    """The job for a version of Flink, with the Java of a run on whatever backend.

    Raises:
        SetupError: there is no compiler, or a jar cannot be had.
    """
    libs = jars_for(tools, "flink", version)
    found = compiled(tools.java_home / "bin" / "java", libs, sources=[SOURCES])
    return FlinkProgram(java=found.java, class_path=found.class_path)
