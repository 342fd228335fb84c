"""From exceptions that we expect to one sentence and an exit code.

The one thing to know: whoever raises an error that a user can meet says what happened, where, and
what to do next; here it only gets printed.
"""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from checkers import BadClaim, BadHistory
from checkers.engines.not_enough_memory import NotEnoughMemory
from harness.lab.place import LabTrouble
from harness.record import UnreadableRun
from harness.recording.tables import DamagedHistory
from harness.stage.blocks import NoBlock
from harness.tools.error import SetupError
from onceproof.lab_client import LabSilent

USAGE, TROUBLE = 2, 3


@contextmanager
def told() -> Iterator[None]:
    """Tell an expected error in its own words and leave with the right code."""
    try:
        yield
    except (UnreadableRun, DamagedHistory, BadHistory, BadClaim) as error:
        print(f"onceproof: {error}", file=sys.stderr)
        sys.exit(USAGE)
    except (SetupError, NoBlock, LabTrouble, LabSilent, NotEnoughMemory) as error:
        print(f"onceproof: {error}", file=sys.stderr)
        sys.exit(TROUBLE)
    except OSError as error:
        what = f" ({error.filename})" if error.filename else ""
        words = f"onceproof: {error.strerror or error}{what}."
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            words += (
                " Make room, or give another folder with --out. What was recorded so far stays: "
                "`onceproof check <run folder>` judges it."
            )
        print(words, file=sys.stderr)
        sys.exit(TROUBLE)
