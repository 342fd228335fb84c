"""Libraries that only some outputs are read with, and that are installed as extras."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

from onceproof.harness.tools.error import SetupError

LIBRARIES: Final = {"iceberg": "pyiceberg"}
"""What reads a kind of table, by kind; the extra has the name of the kind."""


def is_installed(kind: str) -> bool:
    """Whether tables of a kind can be read; one without an extra always can."""
    return kind not in LIBRARIES or find_spec(LIBRARIES[kind]) is not None


def require(kind: str) -> None:
    """See that tables of a kind can be read.

    Raises:
        SetupError: their library is not installed.
    """
    if not is_installed(kind):
        raise SetupError(
            f"Reading {kind} tables needs {LIBRARIES[kind]}, which is not installed: "
            f"`pip install 'onceproof[{kind}]'`, then try again."
        )
