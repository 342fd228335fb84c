"""Print expected exceptions, whose messages say what to do next, and set the exit code."""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from onceproof.checkers import BadClaim, BadHistory
from onceproof.checkers.engines.not_enough_memory import NotEnoughMemory
from onceproof.checkers.extensions import BadExtension
from onceproof.harness.history.run_record import UnreadableRun
from onceproof.harness.history.tables import DamagedHistory
from onceproof.harness.lab.place import LabError
from onceproof.harness.links.blocks import NoFreeBlock
from onceproof.harness.tools.error import SetupError
from onceproof.lab_client import LabUnavailable

USAGE, TROUBLE = 2, 3
_ROOM = (
    " Free disk space, or choose another folder with --out. What was recorded is kept: "
    "`onceproof check <run folder>` judges it."
)
_PLACE = " Give an existing path that you can write to; --out is the folder for runs."
_ADVICE = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), _ROOM),
    **dict.fromkeys((errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST), _PLACE),
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), _PLACE),
    errno.EMFILE: " Allow more open files (`ulimit -n`), then try again.",
    errno.ENOMEM: " Free memory, then try again.",
}
"""What to do next, by errno."""


@contextmanager
def exit_on_error() -> Iterator[None]:
    """Print an expected error and exit with code 2 (usage, or an unreadable run) or 3 (trouble)."""
    try:
        yield
    except (UnreadableRun, DamagedHistory, BadHistory, BadClaim) as error:
        print(f"onceproof: {error}", file=sys.stderr)
        sys.exit(USAGE)
    except (
        BadExtension,
        SetupError,
        NoFreeBlock,
        LabError,
        LabUnavailable,
        NotEnoughMemory,
    ) as error:
        print(f"onceproof: {error}", file=sys.stderr)
        sys.exit(TROUBLE)
    except OSError as error:
        what = f" ({error.filename})" if error.filename else ""
        words = f"onceproof: {error.strerror or error}{what}."
        print(words + _ADVICE.get(error.errno or 0, ""), file=sys.stderr)
        sys.exit(TROUBLE)
