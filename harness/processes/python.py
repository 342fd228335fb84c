"""Run our own modules as separate programs.

`python -m` imports from the current folder first, unlike the installed command; `-P` turns that
off. PySpark jobs are scripts and not started this way.
"""

from __future__ import annotations

import sys


def python_module(name: str, *arguments: str) -> list[str]:
    return [sys.executable, "-P", "-u", "-m", name, *arguments]
