"""Download Flink's jars and compile `PaymentsJob.java` on first use, not in `setup`."""

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
        """Return the job's command; killed jobs leave files in `temporary`."""
        return [
            *jvm(self.java, *_JVM), f"-Djava.io.tmpdir={temporary}",
            f"-Dlog4j2.configurationFile={LOGGING.as_uri()}",
            "-cp", self.class_path, "PaymentsJob", *arguments,
        ]  # fmt: skip


def program_for(tools: Tools, version: str) -> FlinkProgram:
    """Return the job for a version of Flink, using the run's Java on any backend.

    A version that the run chose prevails.

    Raises:
        SetupError: there is no compiler, or a jar cannot be downloaded.
    """
    libs = tools.chosen.jars.get("flink") or jars_for(tools, "flink", version)
    found = compiled(tools.java_home / "bin" / "java", libs, sources=[SOURCES])
    return FlinkProgram(java=found.java, class_path=found.class_path)
