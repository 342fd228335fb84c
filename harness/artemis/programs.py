"""Fetch the jars, which `setup` does not, and compile this folder's Java programs on demand."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from onceproof.harness.java.programs import COMMON, JavaPrograms, compiled
from onceproof.harness.tools.jars_for import artemis_jars
from onceproof.harness.tools.setup import Tools

SOURCES: Final = Path(__file__).parent


def artemis_programs(tools: Tools) -> JavaPrograms:
    """Return the compiled programs.

    Raises:
        SetupError: there is no compiler, or a jar is not available.
    """
    java = tools.java_home / "bin" / "java"
    return compiled(java, artemis_jars(tools), sources=[SOURCES, COMMON])
