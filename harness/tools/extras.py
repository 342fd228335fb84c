"""Optional libraries that read some outputs, installed as extras."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

from onceproof.harness.tools.error import SetupError

LIBRARIES: Final = {"iceberg": "pyiceberg"}
"""Extra, which is also the kind of table → library."""


def is_installed(extra: str) -> bool:
    return find_spec(LIBRARIES[extra]) is not None


def require(extra: str) -> None:
    """Raise `SetupError` if an extra is not installed."""
    if not is_installed(extra):
        raise SetupError(
            f"Reading {extra} tables needs {LIBRARIES[extra]}, which is not installed: "
            f"`pip install 'onceproof[{extra}]'`, then try again."
        )
