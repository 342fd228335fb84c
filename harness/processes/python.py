"""Run our own modules as separate programs.

`python -m` imports from the current folder first, unlike the installed command; `-P` turns that
off. PySpark jobs are scripts and not started this way.
"""

from __future__ import annotations

import sys
from pathlib import Path


def python_module(name: str, *arguments: str, python: Path | None = None) -> list[str]:
    """Return the command that runs a module; `python` None is the harness's own interpreter."""
    return [str(python or sys.executable), "-P", "-u", "-m", name, *arguments]
