"""Build a command line of `onceproof` for another process; it reads no settings file."""

from __future__ import annotations

from onceproof.harness.processes.python import python_module


def command(*words: str) -> list[str]:
    return python_module("onceproof", "--config", "none", *words)
