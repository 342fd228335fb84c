"""Client of a lab: HTTP over its Unix socket. Imports nothing of onceproof, to keep tests small."""

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
    """The lab rejected a request; the message is the lab's.

    Attributes:
        usage: whether the request was malformed.
        ending: whether the lab is shutting down and accepts no more requests.
    """

    def __init__(self, words: str, status: int) -> None:
        super().__init__(words)
        self.usage = status == HTTPStatus.BAD_REQUEST
        self.ending = status == HTTPStatus.SERVICE_UNAVAILABLE


class LabUnavailable(RuntimeError):
    """The lab does not answer, or its answer is not JSON; the message says what was seen."""


class Reachable(Protocol):
    """A lab's name and the Unix socket that it listens on."""

    @property
    def name(self) -> str: ...

    @property
    def socket(self) -> Path: ...


class _Connection(http.client.HTTPConnection):
    def __init__(self, place: Reachable) -> None:
        super().__init__("lab", timeout=_SECONDS)
        self._place = place

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._place.socket))


def ask(place: Reachable, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    """Send a request to a lab and return its answer.

    Raises:
        LabRefused: the lab rejected the request.
        LabUnavailable: the lab does not answer.
    """
    connection = _Connection(place)
    try:
        connection.request(method, path, body=None if body is None else json.dumps(body))
        answer = connection.getresponse()
        found = json.loads(answer.read())
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise LabUnavailable(f"the lab {place.name} does not answer: {error}") from None
    finally:
        connection.close()
    if answer.status >= 400:
        raise LabRefused(str(found.get("error", found)), answer.status)
    return found
