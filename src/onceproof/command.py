"""The command `onceproof`, as another process is to start it.

It imports nothing from the current folder (`-P`), as the installed command does not, and reads no
settings file (`--config none`): its caller passes every option.
"""

from __future__ import annotations

import sys


def command(*words: str) -> list[str]:
    """The command with these words, as a list for `subprocess`."""
    return [sys.executable, "-P", "-u", "-m", "onceproof", "--config", "none", *words]
