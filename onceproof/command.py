"""The command `onceproof`, as another process is to start it.

The one thing to know: neither the folder it is started in nor PYTHONPATH counts for what it imports
(`-P`, `-E`): a project under test may have packages with names of ours. Nor does a file with
settings (`--config none`): whoever starts it tells it everything. It imports nothing itself, so
that it can be used in a process of such a project.
"""

from __future__ import annotations

import sys


def command(*words: str) -> list[str]:
    """The command with these words, as a list for `subprocess`."""
    return [sys.executable, "-P", "-E", "-u", "-m", "onceproof", "--config", "none", *words]
