"""Run the HTTP service as a process, with one address for clients and another for control.

`python -m onceproof.harness.http_service CLIENTS CONTROL LOG SETTINGS`, the first two as host:port.
"""

from __future__ import annotations

import json
import signal
import socketserver
import sys
import threading
from collections.abc import Sequence
from dataclasses import asdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from onceproof.harness.http_service.rules import Rule
from onceproof.harness.http_service.service import OK, Answer, RuleAlreadyActive, Service
from onceproof.harness.http_service.settings import HttpSettings

CONFLICT: Final = 409
_MAX_BYTES: Final = 64 << 20


class Incomplete(ConnectionError):
    """A request that is incomplete or malformed; it is not executed."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, place: str, handler: type[BaseHTTPRequestHandler], service: Service) -> None:
        self.service = service
        host, _, port = place.rpartition(":")
        super().__init__((host, int(port)), handler)

    def server_bind(self) -> None:
        """Bind without the reverse DNS lookup of the base class, which may be slow."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect before the response."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # send a response as one packet, so that no delayed ACK slows it down
    server: _Server

    def handle_any(self) -> None:
        try:
            body = self._body()
        except ValueError as error:
            raise Incomplete(str(error)) from error
        answer = self.taken(unquote(urlsplit(self.path).path), body)
        if answer is None:
            self.close_connection = True
            return
        content = json.dumps(answer.content).encode()
        self.send_response(answer.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    do_GET = do_HEAD = do_OPTIONS = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any  # noqa: N815

    def taken(self, path: str, body: bytes) -> Answer | None:
        headers = tuple(self.headers.items())
        text = body.decode(errors="backslashreplace")
        return self.server.service.take(self.command, path, headers, text)

    def log_message(self, *_: Any) -> None:
        """Log nothing: executed requests are in the request log."""

    def _body(self) -> bytes:
        """Read the whole body.

        Raises:
            Incomplete, ValueError: it is incomplete or malformed.
        """
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            return b"".join(iter(self._chunk, b""))
        return self._exactly(int(self.headers.get("Content-Length", "0")))

    def _chunk(self) -> bytes:
        """Read the next chunk; an empty one is the last."""
        size = int(self.rfile.readline(1 << 10).split(b";")[0], 16)
        data = self._exactly(size)
        while self.rfile.readline(1 << 16).strip():  # the end of the chunk, or trailers
            if size:
                raise Incomplete("a chunk is longer than its declared size")
        return data

    def _exactly(self, size: int) -> bytes:
        if not 0 <= size <= _MAX_BYTES:
            raise Incomplete(f"invalid body size {size}: expected at most {_MAX_BYTES} bytes")
        data = self.rfile.read(size)
        if len(data) < size:
            raise Incomplete("the connection ended before the end of the body")
        return data


class _Control(_Handler):
    """Control requests: PUT, GET and DELETE of `/rule`; `GET /` shows that the service runs."""

    def taken(self, path: str, body: bytes) -> Answer | None:
        service = self.server.service
        if path != "/rule":
            return Answer(status=OK, content={})
        match self.command:
            case "PUT":
                try:
                    service.put(Rule(**json.loads(body)))
                except RuleAlreadyActive as error:
                    return Answer(status=CONFLICT, content={"error": str(error)})
                met = []
            case "DELETE":
                met = service.remove()
            case _:
                met = service.met()
        return Answer(status=OK, content={"met": [asdict(each) for each in met]})


def main(arguments: Sequence[str]) -> None:
    clients, control, log, settings = arguments
    given = json.loads(settings)
    wanted = HttpSettings(paths=tuple(given["paths"]), key=given["key"])
    service = Service(wanted, Path(log))
    # A handler would run in this thread only, and not be called while it waits if another thread
    # is interrupted by the signal. So every thread blocks the signal, and this one waits for it.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    # The harness takes the service to run once control answers, so serve clients first.
    for place, handler in ((clients, _Handler), (control, _Control)):
        server = _Server(place, handler, service)
        threading.Thread(target=server.serve_forever, daemon=True).start()
    signal.sigwait({signal.SIGTERM})


if __name__ == "__main__":
    main(sys.argv[1:])
