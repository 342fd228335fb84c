"""Control a lab by HTTP with JSON over a Unix socket, from `curl` or any language.

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

from onceproof.harness.faults.by_hand import asked, by_hand
from onceproof.harness.faults.words import UnknownFault
from onceproof.harness.kafka.connecting.connection import client_properties
from onceproof.harness.kafka.topic import BadTopic, Topic
from onceproof.harness.lab.by_hand import ByHand, Ending, NoSuchFault, NotOffered, TopicRefused
from onceproof.harness.lab.place import Place
from onceproof.harness.lab.status import bootstraps, fault_of, status
from onceproof.harness.links.topology import AUDITOR
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.wait import Interrupted, Overdue

ROOT: Final = 0
_MAX_BYTES: Final = 64 * 1024
_READ_TIMEOUT: Final = 30.0
"""Seconds after which the connection of a silent client is closed."""


class Refused(Exception):
    """A request that is refused, with a status and a reason."""

    def __init__(self, code: HTTPStatus, words: str) -> None:
        super().__init__(words)
        self.code = code


class LabServer:
    """Serves one lab until it is closed."""

    def __init__(self, place: Place, lab: ByHand, about: dict[str, Any]) -> None:
        self._lab = lab
        self._about = about
        self._server = _Server(str(place.socket), _handler(self.answer))
        place.socket.chmod(0o600)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, method: str, path: str, body: dict[str, Any]) -> tuple[HTTPStatus, Any]:
        """Return status and content for a request.

        Raises:
            Refused: with the status and the error text.
        """
        try:
            return self._answer(method, path, body)
        except (UnknownFault, BadTopic) as error:
            raise Refused(HTTPStatus.BAD_REQUEST, str(error)) from error
        except NoSuchFault as error:
            raise Refused(HTTPStatus.NOT_FOUND, str(error)) from error
        except (Overdue, StageTrouble, NotOffered, TopicRefused) as error:
            raise Refused(HTTPStatus.CONFLICT, str(error)) from error
        except Ending as error:
            raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, str(error)) from error
        except Interrupted as error:
            raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, f"the lab is ending: {error}") from error
        except Refused:
            raise
        except Exception as error:
            # During tear-down, parts of the stage fail with errors of many kinds.
            if self._lab.ending:
                raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, "the lab is ending") from error
            words = f"{type(error).__name__}: {error}"
            raise Refused(HTTPStatus.INTERNAL_SERVER_ERROR, words) from error

    def _answer(self, method: str, path: str, body: dict[str, Any]) -> tuple[HTTPStatus, Any]:
        match method, path.strip("/").split("/"):
            case "GET", [""]:
                return HTTPStatus.OK, self._describe_lab()
            case "GET", ["status"]:
                return HTTPStatus.OK, status(self._lab.context, self._lab.executions)
            case "GET", ["kinds"]:
                return HTTPStatus.OK, [
                    {"name": e.name, "takes": list(e.takes), "says": e.says}
                    for e in by_hand().values()
                ]
            case "POST", ["topics"]:
                return HTTPStatus.CREATED, self._make_topic(body)
            case "GET", ["faults"]:
                return HTTPStatus.OK, [fault_of(execution) for execution in self._lab.executions]
            case "POST", ["faults"]:
                return HTTPStatus.CREATED, self._begin(body)
            case "POST", ["faults", name, "heal"]:
                return HTTPStatus.OK, fault_of(self._lab.heal(name))
            case "POST", ["heal"]:
                return HTTPStatus.OK, [fault_of(execution) for execution in self._lab.heal_all()]
            case "POST", ["end"]:
                judge = body.get("judge", True)
                if not isinstance(judge, bool):
                    raise Refused(HTTPStatus.BAD_REQUEST, "judge: expected true or false")
                self._lab.end(judge=judge)
                return HTTPStatus.ACCEPTED, {"judge": judge}
        raise Refused(HTTPStatus.NOT_FOUND, f"there is no {method} {path}")

    def _describe_lab(self) -> dict[str, Any]:
        stage = self._lab.context.stage
        return self._about | {
            "bootstrap": bootstraps(self._lab.context),
            "database": {who: stage.database(who) for who in ("pipeline", AUDITOR)},
            "client_properties": client_properties(),
            "links": [str(link) for link in stage.links()],
        }

    def _make_topic(self, body: dict[str, Any]) -> dict[str, Any]:
        word = body.get("topic")
        if not isinstance(word, str):
            raise Refused(HTTPStatus.BAD_REQUEST, 'expected {"topic": "NAME:PARTITIONS"}')
        topic = self._lab.make_topic(Topic.parse(word))
        return {"name": topic.name, "partitions": topic.partitions}

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
        execution = self._lab.begin(name, asked(name, words))
        if execution.state == "failed":
            raise Refused(HTTPStatus.CONFLICT, f"{execution.at.name}: {execution.detail}")
        return fault_of(execution)


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
            if not length.isdecimal() or int(length) > _MAX_BYTES:
                self.close_connection = True
                raise Refused(
                    HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"expected at most {_MAX_BYTES} bytes"
                )
            text = self.rfile.read(int(length))
            if len(text) < int(length):
                raise Refused(HTTPStatus.BAD_REQUEST, f"the body ended before {length} bytes")
            try:
                body = json.loads(text) if text.strip() else {}
            except (ValueError, RecursionError) as error:
                raise Refused(HTTPStatus.BAD_REQUEST, f"not JSON: {error}") from None
            if not isinstance(body, dict):
                raise Refused(HTTPStatus.BAD_REQUEST, "expected a JSON object")
            return body

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
