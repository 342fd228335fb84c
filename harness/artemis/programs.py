"""The Java programs beside this file: jars fetched and programs compiled when a run needs them.

Nobody else waits for these jars; `setup` does not get them. A broker and its
clients have the same ones, and nothing of Kafka's is among them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from onceproof.harness.java.programs import COMMON, JavaPrograms, compiled
from onceproof.harness.tools.jars_for import artemis_jars
from onceproof.harness.tools.setup import Tools

SOURCES: Final = Path(__file__).parent


def artemis_programs(tools: Tools) -> JavaPrograms:
    """Them, with the Java of a run on whatever backend.

    Raises:
        SetupError: there is no compiler, or a jar cannot be had.
    """
    java = tools.java_home / "bin" / "java"
    return compiled(java, artemis_jars(tools), sources=[SOURCES, COMMON])
