"""Build relative links from a page to files, so that both can be moved together."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote


def link(target: Path, folder: Path) -> str:
    """Return a link from a page in `folder`, quoted byte by byte, because names may be anything."""
    # Resolve symbolic links first: `..` is relative to a link's target.
    path = os.path.relpath(target.resolve(), folder.resolve())
    # `./` keeps a name with a colon from being parsed as a scheme.
    return "./" + quote(os.fsencode(path))
