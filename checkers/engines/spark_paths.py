"""Convert a place to a path for Spark: local unless it names its file system, never a glob."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from onceproof.checkers.folders import is_uri

_GLOB: Final = re.compile(r"([\\{}\[\]*?^])")


def literal_path(place: str) -> str:
    """Escape the glob characters that Spark would expand."""
    whole = place if is_uri(place) else f"file://{Path(place).absolute()}"
    return _GLOB.sub(r"\\\1", whole)
