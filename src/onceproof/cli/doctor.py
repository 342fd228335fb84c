"""`onceproof doctor`: its options."""

from __future__ import annotations

import sys


def doctor() -> None:
    """Check this machine: what is installed, what is missing, and what to do.

    Exit code: 0; 3 if a requirement is missing.
    """
    from onceproof.commands import doctor as command

    sys.exit(command.doctor())
