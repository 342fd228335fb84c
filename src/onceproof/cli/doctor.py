"""`onceproof doctor`: its options."""

from __future__ import annotations

import sys


def doctor() -> None:
    """Say what is here, what is missing, and what to do.

    Exit code: 0; 3 if something that runs need is missing.
    """
    from onceproof.commands import doctor as command

    sys.exit(command.doctor())
