"""Libraries that only some outputs are read with, and that are installed as extras."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

from onceproof.harness.tools.error import SetupError

LIBRARIES: Final = {"iceberg": "pyiceberg"}
"""What reads a kind of table, by the extra, which has the name of the kind."""


def is_installed(extra: str) -> bool:
    """Whether the library of an extra is there."""
    return find_spec(LIBRARIES[extra]) is not None


def require(extra: str) -> None:
    """See that the tables that an extra is for can be read.

    Raises:
        SetupError: their library is not installed.
    """
    if not is_installed(extra):
        raise SetupError(
            f"Reading {extra} tables needs {LIBRARIES[extra]}, which is not installed: "
            f"`pip install 'onceproof[{extra}]'`, then try again."
        )
