"""SASL login to a broker: what is sent, and the errors of a refusal."""

from __future__ import annotations

import base64
import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from onceproof.harness.kafka.connecting.handshake import connect
from onceproof.harness.kafka.connecting.refused import CredentialsRefused

PLAIN = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "PLAIN",
    "sasl.username": "trial",
    "sasl.password": "open-sesame",
}
UNSECURED = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "OAUTHBEARER",
    "sasl.oauthbearer.config": "principal=trial",
    "enable.sasl.oauthbearer.unsecure.jwt": "true",
}


def text(words: str) -> bytes:
    return struct.pack(">h", len(words)) + words.encode()


def handshake(code: int, *mechanisms: str) -> bytes:
    """A response to SaslHandshake of version 1, written by hand."""
    return struct.pack(">hi", code, len(mechanisms)) + b"".join(map(text, mechanisms))


def authenticated(code: int = 0, words: str = "", answer: bytes = b"") -> bytes:
    """A response to SaslAuthenticate of version 1."""
    head = struct.pack(">h", code) + text(words)
    return head + struct.pack(">i", len(answer)) + answer + struct.pack(">q", 0)


ACCEPTED = handshake(0)


class Broker:
    """Answers the requests of one connection in turn, and records them."""

    def __init__(self, answers: Sequence[bytes]) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.received: list[bytes] = []
        self._answers = answers
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        connection, _ = self._listener.accept()
        with connection, self._listener:
            for answer in self._answers:
                (size,) = struct.unpack(">i", connection.recv(4, socket.MSG_WAITALL))
                self.received.append(connection.recv(size, socket.MSG_WAITALL))
                connection.sendall(struct.pack(">ii", 4 + len(answer), 0) + answer)

    def last(self) -> bytes:
        self._thread.join(10)
        return self.received[-1]


def test_plain_sends_username_and_password() -> None:
    broker = Broker([ACCEPTED, authenticated()])
    connect(broker.address, PLAIN, 5).close()
    assert broker.last().endswith(b"\0trial\0open-sesame")


def test_unsecured_token_has_the_principal_as_subject() -> None:
    broker = Broker([ACCEPTED, authenticated()])
    connect(broker.address, UNSECURED, 5).close()
    token = broker.last().partition(b"auth=Bearer ")[2].rstrip(b"\x01").decode()
    head, claims, signature = token.split(".")
    assert json.loads(base64.urlsafe_b64decode(head + "==")) == {"alg": "none"}
    assert json.loads(base64.urlsafe_b64decode(claims + "=="))["sub"] == "trial"
    assert signature == ""


@pytest.mark.parametrize(
    ("properties", "answers", "message"),
    [
        (PLAIN, [ACCEPTED, authenticated(58, "Invalid username or password")], "sasl.username and"),
        (
            PLAIN,
            [handshake(33, "SCRAM-SHA-512")],
            "does not support PLAIN .*supports SCRAM-SHA-512",
        ),
        (UNSECURED, [ACCEPTED, authenticated(answer=b'{"status":"invalid_token"}')], "the token"),
    ],
)
def test_refused_login_names_broker_and_cause_without_password(
    properties: dict[str, str], answers: list[bytes], message: str
) -> None:
    broker = Broker(answers)
    with pytest.raises(CredentialsRefused, match=message) as error:
        connect(broker.address, properties, 5)
    assert str(error.value).startswith(broker.address)
    assert "open-sesame" not in str(error.value)


@pytest.fixture
def endpoint() -> Iterator[Callable[[int, bytes], str]]:
    """Start token endpoints that accept one client secret."""
    servers: list[HTTPServer] = []

    def make(status: int, body: bytes) -> str:
        class Endpoint(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                known = base64.b64encode(b"trial:open-sesame").decode()
                right = self.headers["Authorization"] == f"Basic {known}"
                self.send_response(status if right else 401)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *_: object) -> None:  # noqa: A002
                """Log nothing."""

        servers.append(HTTPServer(("127.0.0.1", 0), Endpoint))
        threading.Thread(target=servers[-1].serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{servers[-1].server_port}/token"

    yield make
    for server in servers:
        server.shutdown()
        server.server_close()


def oidc(url: str, secret: str = "open-sesame") -> dict[str, str]:
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.client.id": "trial",
        "sasl.oauthbearer.client.secret": secret,
        "sasl.oauthbearer.token.endpoint.url": url,
    }


def test_oidc_token_is_sent_as_bearer(endpoint: Callable[[int, bytes], str]) -> None:
    broker = Broker([ACCEPTED, authenticated()])
    connect(broker.address, oidc(endpoint(200, b'{"access_token": "abc"}')), 5).close()
    assert b"auth=Bearer abc\x01" in broker.last()


@pytest.mark.parametrize(
    ("status", "body", "secret", "message"),
    [
        (200, b'{"access_token": "abc"}', "wrong-word", "HTTP status 401"),
        (200, b"{}", "open-sesame", "KeyError"),
        (500, b"", "open-sesame", "HTTP status 500"),
    ],
)
def test_failing_token_endpoint_is_named_without_secret(
    endpoint: Callable[[int, bytes], str], status: int, body: bytes, secret: str, message: str
) -> None:
    broker, url = Broker([ACCEPTED]), endpoint(status, body)
    with pytest.raises(CredentialsRefused, match=message) as error:
        connect(broker.address, oidc(url, secret), 5)
    assert url in str(error.value)
    assert secret not in str(error.value)
