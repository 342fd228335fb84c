"""Our own modules as programs of their own.

`python -m` would import from the current folder first, which the installed command does not do:
`-P` makes them alike. PySpark jobs are scripts and not started this way.
"""

from __future__ import annotations

import sys


def python_module(name: str, *arguments: str) -> list[str]:
    """The command that runs a module, with the Python that runs this; output is not buffered."""
    return [sys.executable, "-P", "-u", "-m", name, *arguments]
