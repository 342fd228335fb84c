"""Serve a lab's protocol over a Unix socket, for the command line, `curl` and any language.

Only the user who opened the lab, or root, is served: by the permissions of the folder and by the
peer credentials of each connection. `docs/reference/lab.md` is the contract.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import sys
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingMixIn, UnixStreamServer
from typing import Any, Final

from onceproof.harness.lab.place import Place
from onceproof.harness.lab.protocol import MAX_BYTES, LabProtocol, Refused, parsed, too_large

ROOT: Final = 0
_READ_TIMEOUT: Final = 30.0
"""Seconds after which the connection of a silent client is closed."""


class LabServer:
    """Serves one lab until it is closed."""

    def __init__(self, place: Place, protocol: LabProtocol) -> None:
        self._server = _Server(str(place.socket), _handler(protocol.answer))
        place.socket.chmod(0o600)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingMixIn, UnixStreamServer):
    daemon_threads = True

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Return whether the user of the connection, known from the kernel, is permitted."""
        found = request.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        _, user, _ = struct.unpack("3i", found)
        return may_drive(user, owner=os.getuid())

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a client that disconnected; its request is carried out."""
        error = sys.exception()
        if not isinstance(error, OSError):
            super().handle_error(request, client_address)


def may_drive(user: int, *, owner: int) -> bool:
    return user in (owner, ROOT)


def _handler(
    answer: Callable[[str, str, dict[str, Any]], tuple[HTTPStatus, Any]],
) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = _READ_TIMEOUT

        def do_GET(self) -> None:
            self._serve()

        def do_POST(self) -> None:
            self._serve()

        def address_string(self) -> str:
            return "local"

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Log nothing: the history has the faults."""

        def send_error(
            self, code: int, message: str | None = None, explain: str | None = None
        ) -> None:
            """Answer invalid HTTP in the same form as everything else."""
            self.close_connection = True
            self.request_version = self.protocol_version  # else a garbled request gets no headers
            self._respond(HTTPStatus(code), {"error": message or HTTPStatus(code).phrase})

        def _serve(self) -> None:
            try:
                code, found = answer(self.command, self.path, self._body())
            except Refused as error:
                code, found = error.code, {"error": str(error)}
            self._respond(code, found)

        def _body(self) -> dict[str, Any]:
            length = self.headers.get("Content-Length", "0")
            if "Transfer-Encoding" in self.headers:
                self.close_connection = True
                raise Refused(HTTPStatus.LENGTH_REQUIRED, "expected a body with Content-Length")
            if not length.isdecimal() or int(length) > MAX_BYTES:
                self.close_connection = True
                raise too_large()
            text = self.rfile.read(int(length))
            if len(text) < int(length):
                raise Refused(HTTPStatus.BAD_REQUEST, f"the body ended before {length} bytes")
            return parsed(text)

        def _respond(self, code: HTTPStatus, found: Any) -> None:
            text = json.dumps(found, indent=2).encode() + b"\n"
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            if self.close_connection:
                self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(text)

    return Handler
