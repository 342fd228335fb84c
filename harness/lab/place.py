"""Where a lab can be reached: a Unix socket in a folder that only its user can enter.

A socket's file stays behind when its process is killed, so a lab is there
only if it answers; what does not answer is swept away by the next one.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import socket
import stat
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,30}")


class LabTrouble(RuntimeError):
    """A lab cannot be opened or reached; the text says why and what to do."""


@dataclass(frozen=True)
class Place:
    """Where the lab of a name is reached."""

    folder: Path
    lock: IO[bytes] | None = field(default=None, compare=False, repr=False)
    """Locked from before its stage begins until its folder is gone; of who took the place."""

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def socket(self) -> Path:
        """The socket that it listens on."""
        return self.folder / "control.sock"

    def answers(self) -> bool:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            try:
                probe.connect(str(self.socket))
            except OSError:
                return False
        return True

    @classmethod
    def take(cls, name: str) -> Place:
        """A place for a new lab of this name.

        Raises:
            LabTrouble: the name is not one, or a lab of that name is there.
        """
        if not _NAME.fullmatch(name):
            raise LabTrouble(f"invalid lab name {name!r}: expected letters, digits, . _ and -")
        folder = _labs() / name
        lock = folder.with_name(f".{name}.lock").open("wb")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            raise LabTrouble(
                f"lab {name} is already running or starting; end it with "
                f"`onceproof end --lab {name}`, or choose another name with --name"
            ) from None
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
        return cls(folder, lock)

    def leave(self) -> None:
        """Let the next lab of this name have it."""
        shutil.rmtree(self.folder, ignore_errors=True)
        if self.lock is not None:
            self.lock.close()

    @classmethod
    def find(cls, name: str | None) -> Place:
        """The lab of this name, or the only one that is up.

        Raises:
            LabTrouble: there is none, or more than one and none is named.
        """
        if name is not None:
            place = cls(_labs() / name) if _NAME.fullmatch(name) else None
            if place is None or not place.answers():
                raise LabTrouble(f"no lab named {name!r} is running; {_known(_up())}")
            return place
        up = _up()
        if not up:
            raise LabTrouble("no lab is running; start one with `onceproof lab`")
        if len(up) > 1:
            raise LabTrouble(f"{len(up)} labs are {_known(up)}; choose one with --lab NAME")
        return up[0]


def _up() -> list[Place]:
    return [place for folder in sorted(_labs().iterdir()) if (place := Place(folder)).answers()]


def _known(up: list[Place]) -> str:
    return f"running: {', '.join(place.name for place in up)}" if up else "no lab is running"


def _labs() -> Path:
    """The folder of all labs of this user, which nobody else can enter."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    base = Path(runtime or tempfile.gettempdir())
    folder = base / ("onceproof" if runtime else f"onceproof-{os.getuid()}")
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        raise LabTrouble(f"{folder} cannot be made: {error.strerror}") from None
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise LabTrouble(
            f"{folder} must be a folder that is yours alone (mode 700); remove it, or set "
            "XDG_RUNTIME_DIR to a folder that is"
        )
    return folder
