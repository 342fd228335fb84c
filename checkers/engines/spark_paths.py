"""A place as Spark takes it: local unless it names its file system, and never a pattern."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from onceproof.checkers.folders import is_uri

_GLOB: Final = re.compile(r"([\\{}\[\]*?^])")


def literal_path(place: str) -> str:
    """The path of exactly this place: in what Spark reads, `*`, `[` and `{` stand for others."""
    whole = place if is_uri(place) else f"file://{Path(place).absolute()}"
    return _GLOB.sub(r"\\\1", whole)
