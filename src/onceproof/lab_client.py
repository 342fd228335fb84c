"""Asking a lab: HTTP with JSON over its Unix socket.

It imports nothing of ours, so that a test process which uses it stays small.
"""

from __future__ import annotations

import http.client
import json
import socket
from http import HTTPStatus
from pathlib import Path
from typing import Any, Protocol

_SECONDS = 300.0
"""Longer than the lab itself waits for a fault to act or to be healed."""


class LabRefused(RuntimeError):
    """The lab did not do as asked; the text is its own.

    Attributes:
        usage: whether it could not be understood.
        ending: whether it does nothing more because it comes to its end.
    """

    def __init__(self, words: str, status: int) -> None:
        super().__init__(words)
        self.usage = status == HTTPStatus.BAD_REQUEST
        self.ending = status == HTTPStatus.SERVICE_UNAVAILABLE


class LabSilent(RuntimeError):
    """The lab does not answer, or not as a lab does; the text says what was seen."""


class Reachable(Protocol):
    """Where a lab is reached."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def socket(self) -> Path:
        """The socket that it listens on."""


class _Connection(http.client.HTTPConnection):
    def __init__(self, place: Reachable) -> None:
        super().__init__("lab", timeout=_SECONDS)
        self._place = place

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._place.socket))


def ask(place: Reachable, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    """Ask a lab and return what it answers.

    Raises:
        LabRefused: it cannot or will not.
        LabSilent: it does not answer.
    """
    connection = _Connection(place)
    try:
        connection.request(method, path, body=None if body is None else json.dumps(body))
        answer = connection.getresponse()
        found = json.loads(answer.read())
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise LabSilent(f"the lab {place.name} does not answer: {error}") from None
    finally:
        connection.close()
    if answer.status >= 400:
        raise LabRefused(str(found.get("error", found)), answer.status)
    return found
