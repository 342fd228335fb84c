"""Who may use the page: the user who opened it, from a page of ours, with a session.

A link is good for one browser. Its token is in the fragment of the address, which browsers send to
nobody; the page exchanges it for a session, which it sends as a header with each request. There is
no cookie, so another site cannot borrow the session.
"""

from __future__ import annotations

import ipaddress
import re
import secrets
import struct
import threading
from collections.abc import Mapping
from pathlib import Path

from onceproof.harness.lab.server import may_drive

_BYTES = 32
_HOST = re.compile(r"(127\.0\.0\.1|localhost)(:\d+)?")
_CONNECTIONS = Path("/proc/net/tcp")


class Denied(Exception):
    """A request that is refused; the text says why, without telling anything about the lab."""


class Sessions:
    """Tokens of links that nobody has used, and sessions. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._links: set[str] = set()
        self._sessions: set[str] = set()

    def link(self) -> str:
        """Return the token of a new link."""
        token = secrets.token_urlsafe(_BYTES)
        with self._lock:
            self._links.add(token)
        return token

    def begin(self, token: str) -> str:
        """Exchange the token of a link for a session; raise `Denied` if it is used or unknown."""
        with self._lock:
            if token not in self._links:
                raise Denied("this link was used before, or is not one of ours")
            self._links.remove(token)
            session = secrets.token_urlsafe(_BYTES)
            self._sessions.add(session)
            return session

    def check(self, authorization: str) -> None:
        """Raise `Denied` if a request's `Authorization` header has no session."""
        kind, _, session = authorization.partition(" ")
        with self._lock:
            if kind != "Bearer" or session not in self._sessions:
                raise Denied("no session: open a new link; `onceproof link` prints one for a lab")


def check_origin(headers: Mapping[str, str]) -> None:
    """Raise `Denied` for requests that another site makes, or that a rebound host name brings."""
    host = headers.get("host", "")
    if not _HOST.fullmatch(host):
        raise Denied("the page is served as 127.0.0.1 or localhost only")
    if headers.get("origin", f"http://{host}") != f"http://{host}":
        raise Denied("requests of other sites are refused")
    if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
        raise Denied("requests of other sites are refused")


def check_user(client: tuple[str, int], server: tuple[str, int], *, owner: int) -> None:
    """Raise `Denied` unless the client's end of a loopback connection is the owner's, or root's."""
    user = user_of(_CONNECTIONS.read_text(), client, server)
    if user is None or not may_drive(user, owner=owner):
        raise Denied("the page serves only the user who opened it")


def user_of(connections: str, client: tuple[str, int], server: tuple[str, int]) -> int | None:
    """Return the user id of a connection's client end, from the text of `/proc/net/tcp`.

    None if no process has it open: the kernel names root as the user of a closed socket.
    """
    ends = _end(*client), _end(*server)
    for line in connections.splitlines()[1:]:
        fields = line.split()
        user, inode = fields[7], fields[9]
        if (fields[1], fields[2]) == ends and inode != "0":
            return int(user)
    return None


def _end(host: str, port: int) -> str:
    """Write an address as `/proc/net/tcp` does: 127.0.0.1:80 is 0100007F:0050 here."""
    (number,) = struct.unpack("=I", ipaddress.IPv4Address(host).packed)
    return f"{number:08X}:{port:04X}"
