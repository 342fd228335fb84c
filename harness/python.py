"""Our own modules as programs of their own.

The one thing to know: neither the folder a command is given in nor PYTHONPATH counts for what they
import (`-P`, `-E`): a project that is put on trial may have packages with names of ours. PySpark
jobs are scripts and not started this way: Spark tells its workers by PYTHONPATH where things are.
"""

from __future__ import annotations

import sys


def python_module(name: str, *arguments: str) -> list[str]:
    """The command that runs a module, with the Python that runs this; output is not buffered."""
    return [sys.executable, "-P", "-E", "-u", "-m", name, *arguments]
