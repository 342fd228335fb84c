"""The error of a failed set-up."""

from __future__ import annotations

import errno


class SetupError(Exception):
    """A tool is missing or broken; the message says what, why, and what to do next."""


CORRECT_THEM = "Correct the permissions, then try again."


def from_os(error: OSError, *, doing: str, forbidden: str = CORRECT_THEM) -> SetupError:
    """Explain an OSError to a user; `forbidden` is the advice if permissions are missing."""
    where = f" ({error.filename})" if error.filename else ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return SetupError(f"The disk is full while {doing}{where}. Free space, then try again.")
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return SetupError(f"Permission denied while {doing}{where}. {forbidden}")
    return SetupError(f"{doing[:1].upper()}{doing[1:]} failed: {error.strerror or error}{where}.")
