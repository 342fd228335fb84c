"""A lab's control: HTTP with JSON over a Unix socket, so that `curl` or any language can drive it.

The one thing to know: only the user who opened the lab is served. The folder lets nobody else in,
and whoever connects is asked of the kernel all the same. `docs/reference/lab.md` is the contract.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingMixIn, UnixStreamServer
from typing import Any, Final

from harness.faults.by_hand import UnknownFault, asked, by_hand
from harness.lab.by_hand import ByHand, NoSuchFault
from harness.lab.place import Place
from harness.lab.status import bootstraps, fault_of, status
from harness.stage.base import StageTrouble
from harness.stage.topology import AUDITOR
from harness.wait import Interrupted, Overdue

ROOT: Final = 0
"""The user who may do anything."""
_MOST: Final = 64 * 1024
"""Bytes of a request's body."""
_SILENCE: Final = 30.0
"""Seconds after which a client that says nothing is let go."""


class Refused(Exception):
    """A request that cannot be met: a status, and why."""

    def __init__(self, code: HTTPStatus, words: str) -> None:
        super().__init__(words)
        self.code = code


class LabServer:
    """Serves one lab until it is closed."""

    def __init__(self, place: Place, lab: ByHand, about: dict[str, Any]) -> None:
        """Listen.

        Args:
            place: where.
            lab: what is driven.
            about: what does not change: name, folder, seed, topic.
        """
        self._lab = lab
        self._about = about
        self._server = _Server(str(place.socket), _handler(self.answer))
        place.socket.chmod(0o600)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Take no more requests."""
        self._server.shutdown()
        self._server.server_close()

    def answer(self, method: str, path: str, body: dict[str, Any]) -> tuple[HTTPStatus, Any]:
        """The answer to one request.

        Raises:
            Refused: with the status and the words to answer.
        """
        match method, path.strip("/").split("/"):
            case "GET", [""]:
                return HTTPStatus.OK, self._whole_about()
            case "GET", ["status"]:
                return HTTPStatus.OK, status(self._lab.bench, self._lab.lines)
            case "GET", ["kinds"]:
                return HTTPStatus.OK, [
                    {"name": e.name, "takes": list(e.takes), "says": e.says}
                    for e in by_hand().values()
                ]
            case "POST", ["faults"]:
                return HTTPStatus.CREATED, self._begin(body)
            case "POST", ["faults", name, "heal"]:
                return HTTPStatus.OK, fault_of(self._lab.heal(name))
            case "POST", ["heal"]:
                return HTTPStatus.OK, [fault_of(line) for line in self._lab.heal_all()]
            case "POST", ["end"]:
                judge = body.get("judge", True)
                if not isinstance(judge, bool):
                    raise Refused(HTTPStatus.BAD_REQUEST, "judge: expected true or false")
                self._lab.end(judge=judge)
                return HTTPStatus.ACCEPTED, {"judge": judge}
        raise Refused(HTTPStatus.NOT_FOUND, f"there is no {method} {path}")

    def _whole_about(self) -> dict[str, Any]:
        stage = self._lab.bench.stage
        return self._about | {
            "bootstrap": bootstraps(self._lab.bench),
            "database": {who: stage.database(who) for who in ("pipeline", AUDITOR)},
            "links": [str(link) for link in stage.links()],
        }

    def _begin(self, body: dict[str, Any]) -> dict[str, Any]:
        name, words = body.get("fault"), body.get("arguments", [])
        if (
            not isinstance(name, str)
            or not isinstance(words, list)
            or not all(isinstance(word, str) for word in words)
        ):
            raise Refused(
                HTTPStatus.BAD_REQUEST,
                'expected {"fault": NAME, "arguments": [WORD, …]}, '
                'such as {"fault": "isolate", "arguments": ["broker-2"]}',
            )
        line = self._lab.begin(name, asked(name, words))
        if line.state == "failed":
            raise Refused(HTTPStatus.CONFLICT, f"{line.at.name}: {line.detail}")
        return fault_of(line)


class _Server(ThreadingMixIn, UnixStreamServer):
    daemon_threads = True

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Whether the one who connects is our own user (or root), as the kernel says."""
        found = request.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        _, user, _ = struct.unpack("3i", found)
        return user in (os.getuid(), ROOT)


def _handler(
    answer: Callable[[str, str, dict[str, Any]], tuple[HTTPStatus, Any]],
) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = _SILENCE

        def do_GET(self) -> None:
            self._serve()

        def do_POST(self) -> None:
            self._serve()

        def address_string(self) -> str:
            return "local"

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """What was done stands in the history."""

        def _serve(self) -> None:
            try:
                code, found = answer(self.command, self.path, self._body())
            except Refused as error:
                code, found = error.code, {"error": str(error)}
            except UnknownFault as error:
                code, found = HTTPStatus.BAD_REQUEST, {"error": str(error)}
            except NoSuchFault as error:
                code, found = HTTPStatus.NOT_FOUND, {"error": str(error)}
            except (Overdue, StageTrouble, OSError) as error:
                code, found = HTTPStatus.CONFLICT, {"error": str(error)}
            except Interrupted as error:
                code, found = HTTPStatus.SERVICE_UNAVAILABLE, {"error": f"it ends: {error}"}
            self._tell(code, found)

        def _body(self) -> dict[str, Any]:
            length = self.headers.get("Content-Length", "0")
            if not length.isdigit() or int(length) > _MOST:
                self.close_connection = True
                raise Refused(
                    HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"expected at most {_MOST} bytes"
                )
            text = self.rfile.read(int(length))
            try:
                body = json.loads(text) if text.strip() else {}
            except ValueError as error:
                raise Refused(HTTPStatus.BAD_REQUEST, f"not JSON: {error}") from None
            if not isinstance(body, dict):
                raise Refused(HTTPStatus.BAD_REQUEST, "expected a JSON object")
            return body

        def _tell(self, code: HTTPStatus, found: Any) -> None:
            text = json.dumps(found, indent=2).encode() + b"\n"
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

    return Handler
