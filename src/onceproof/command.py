"""The command `onceproof`, as another process is to start it.

It reads no settings file (`--config none`): its caller passes every option.
"""

from __future__ import annotations

from onceproof.harness.processes.python import python_module


def command(*words: str) -> list[str]:
    """The command with these words, as a list for `subprocess`."""
    return python_module("onceproof", "--config", "none", *words)
