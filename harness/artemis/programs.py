"""The Java programs beside this file: jars fetched and programs compiled when a run needs them.

The one thing to know: nobody else waits for these jars; `setup` does not get them. A broker and its
clients have the same ones, and nothing of Kafka's is among them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from harness.java.programs import COMMON, JavaPrograms, compiled
from harness.tools import jar_lock
from harness.tools.jars_for import jars_for
from harness.tools.setup import Tools

SOURCES: Final = Path(__file__).parent


def artemis_programs(tools: Tools) -> JavaPrograms:
    """Them, with the Java of a run on whatever backend.

    Raises:
        SetupError: there is no compiler, or a jar cannot be had.
    """
    libs = jars_for(tools, "artemis", jar_lock.ARTEMIS)
    return compiled(tools.java_home / "bin" / "java", libs, sources=[SOURCES, COMMON])
