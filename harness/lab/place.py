"""The address of a lab: a Unix socket in a folder that only its user can enter.

A socket's file survives a kill, so only a socket that answers counts as a running lab.
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


class LabError(RuntimeError):
    """A lab cannot be opened or reached; the text says why and what to do."""


@dataclass(frozen=True)
class Place:
    """The address of a named lab."""

    folder: Path
    lock: IO[bytes] | None = field(default=None, compare=False, repr=False)
    """Set in the process that runs the lab; locked until its folder is removed."""

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def socket(self) -> Path:
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
        """Reserve the address of a new lab.

        Raises:
            LabError: the name is invalid, or a lab of that name is running or starting.
        """
        if not _NAME.fullmatch(name):
            raise LabError(f"invalid lab name {name!r}: expected letters, digits, . _ and -")
        folder = _labs() / name
        lock = folder.with_name(f".{name}.lock").open("wb")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            raise LabError(
                f"lab {name} is already running or starting; end it with "
                f"`onceproof end --lab {name}`, or choose another name with --name"
            ) from None
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
        return cls(folder, lock)

    def leave(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        if self.lock is not None:
            self.lock.close()

    @classmethod
    def find(cls, name: str | None) -> Place:
        """Return the lab of this name, or the only running one.

        Raises:
            LabError: there is none, or there are several and `name` is None.
        """
        if name is not None:
            place = cls(_labs() / name) if _NAME.fullmatch(name) else None
            if place is None or not place.answers():
                raise LabError(f"no lab named {name!r} is running; {_list_running(_running())}")
            return place
        up = _running()
        if not up:
            raise LabError("no lab is running; start one with `onceproof lab`")
        if len(up) > 1:
            raise LabError(f"{len(up)} labs are {_list_running(up)}; choose one with --lab NAME")
        return up[0]


def _running() -> list[Place]:
    return [place for folder in sorted(_labs().iterdir()) if (place := Place(folder)).answers()]


def _list_running(up: list[Place]) -> str:
    return f"running: {', '.join(place.name for place in up)}" if up else "no lab is running"


def _labs() -> Path:
    """Return the folder of this user's labs, which only the user can enter."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    base = Path(runtime or tempfile.gettempdir())
    folder = base / ("onceproof" if runtime else f"onceproof-{os.getuid()}")
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        raise LabError(f"cannot create {folder}: {error.strerror}") from None
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise LabError(
            f"{folder} must be a folder that only you can access (mode 700); remove it, or set "
            "XDG_RUNTIME_DIR to such a folder"
        )
    return folder
