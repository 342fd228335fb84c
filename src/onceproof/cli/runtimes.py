"""`onceproof runtimes`: its options."""

from __future__ import annotations

import sys


def runtimes() -> None:
    """List the runtimes that `--with` chooses versions of, and the versions in the cache."""
    from onceproof.commands import runtimes as command

    sys.exit(command.runtimes())
