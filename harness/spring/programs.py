"""Fetch the jars, which `setup` does not, and compile this folder's Java programs on demand."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from onceproof.harness.java.programs import CLIENTS, COMMON, JavaPrograms, compiled
from onceproof.harness.tools import jar_lock
from onceproof.harness.tools.jars_for import jars_for
from onceproof.harness.tools.setup import Tools

SOURCES: Final = Path(__file__).parent


def spring_programs(tools: Tools) -> JavaPrograms:
    """Return the compiled programs.

    Raises:
        SetupError: there is no compiler, or a jar is not available.
    """
    java = tools.java_home / "bin" / "java"
    libs = jars_for(tools, "spring-kafka", jar_lock.SPRING_KAFKA)
    return compiled(java, libs, sources=[SOURCES, COMMON, CLIENTS])
