"""Enter a private network namespace, whose loopback listeners are unreachable from outside.

Linux allows every user to create one, unless the system forbids it. This process enters it before
it has threads; brokers, proxies, database and the pipeline inherit it. It has only loopback.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import socket
import struct
import subprocess
import sys
from pathlib import Path
from typing import Final

_NEW_USER: Final = 0x10000000
_NEW_NET: Final = 0x40000000
_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 1
_ADVICE: Final = {
    errno.EPERM: "the system does not permit it (a container, or restricted user namespaces)",
    errno.ENOSPC: "the limit on namespaces is reached (/proc/sys/user/max_user_namespaces)",
    errno.EINVAL: "this process already has threads, or the kernel has no user namespaces",
}


class NotPrivate(RuntimeError):
    """A private network is not available; the message says why."""


def enter_private_network() -> None:
    """Move this process to a private network, irreversibly.

    Raises:
        NotPrivate: the system does not allow it.
    """
    uid, gid = os.geteuid(), os.getegid()
    try:
        # No user namespace for root, which must be able to start PostgreSQL as another user.
        _unshare(_NEW_NET if uid == 0 else _NEW_USER | _NEW_NET)
        if uid != 0:
            _keep_identity(uid, gid)
        _bring_up("lo")
    except OSError as error:
        why = _ADVICE.get(error.errno or 0, error.strerror or str(error))
        raise NotPrivate(
            f"cannot create a private network: {why}. Leave out --private if nobody else uses "
            "this machine."
        ) from error


def _unshare(what: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(what) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _keep_identity(uid: int, gid: int) -> None:
    """Map the user and group to themselves, so that file owners stay the same."""
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
    Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")


def _bring_up(interface: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        request = struct.pack("16sh14x", interface.encode(), 0)
        (flags,) = struct.unpack_from("h", fcntl.ioctl(sock, _GET_FLAGS, request), 16)
        request = struct.pack("16sh14x", interface.encode(), flags | _UP)
        fcntl.ioctl(sock, _SET_FLAGS, request)


def trouble() -> str | None:
    """Try it in a child process; return why it fails, or None."""
    done = subprocess.run(
        [sys.executable, "-I", __file__], capture_output=True, text=True, timeout=30, check=False
    )
    return (done.stderr.strip()[-300:] or "it printed no reason") if done.returncode else None


if __name__ == "__main__":
    try:
        enter_private_network()
    except NotPrivate as reason:
        sys.exit(str(reason))
