"""The one way in which a set-up fails."""

from __future__ import annotations

import errno


class SetupError(Exception):
    """Something is missing or broken: one or two sentences that say what, why and what next."""


CORRECT_THEM = "Correct the permissions, then try again."


def from_os(error: OSError, *, doing: str, forbidden: str = CORRECT_THEM) -> SetupError:
    """Say what an error of the operating system means for somebody who only wanted a set-up.

    `forbidden` is what to do next where permissions are missing.
    """
    where = f" ({error.filename})" if error.filename else ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return SetupError(f"The disk is full while {doing}{where}. Make room, then try again.")
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return SetupError(f"No permission while {doing}{where}. {forbidden}")
    return SetupError(f"{doing.capitalize()} failed: {error.strerror or error}{where}.")
