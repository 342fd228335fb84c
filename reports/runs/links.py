"""Links from a page to files beside it.

Relative, so that a page and its run folders can be moved together, and
quoted byte by byte, because a folder may be called anything.
"""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote


def link(target: Path, folder: Path) -> str:
    """How a page in a folder links a file.

    Args:
        target: the file.
        folder: where the page lies.
    """
    # Through links as they are now: `..` leads out of where a link leads.
    way = os.path.relpath(target.resolve(), folder.resolve())
    # A name with a colon must not be taken for a scheme.
    return "./" + quote(os.fsencode(way))
