"""Log in to PostgreSQL over a raw socket, with SCRAM or no password (RFC 5802, 7677)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import struct
from collections.abc import Callable
from typing import Final

Say = Callable[[bytes], object]
Hear = Callable[[], tuple[bytes, bytes]]
"""Returns the type and body of the next message."""

_OK, _SASL, _SASL_CONTINUE, _SASL_FINAL = 0, 10, 11, 12
_MECHANISM: Final = b"SCRAM-SHA-256\0"
_NO_BINDING: Final = "n,,"


def log_in(say: Say, hear: Hear, *, user: str, database: str, password: str) -> None:
    """Log in, until the server is ready for a query.

    Raises:
        ConnectionError: the server refuses, or requires an unknown authentication method.
    """
    settings = f"user\0{user}\0database\0{database}\0\0".encode()
    say(struct.pack(">ii", 8 + len(settings), 3 << 16) + settings)
    exchange = _Scram(password)
    while True:
        kind, body = hear()
        if kind == b"Z":
            return
        if kind == b"E":
            raise ConnectionError(
                f"PostgreSQL refused the login: {body.replace(bytes(1), b' ').decode()}"
            )
        if kind != b"R":
            continue  # ParameterStatus and BackendKeyData
        (step,) = struct.unpack_from(">i", body)
        if step == _SASL:
            first = exchange.first().encode()
            _answer(say, _MECHANISM + struct.pack(">i", len(first)) + first)
        elif step == _SASL_CONTINUE:
            _answer(say, exchange.proof(body[4:].decode()).encode())
        elif step not in (_OK, _SASL_FINAL):
            raise ConnectionError(
                f"PostgreSQL requires authentication method {step}, expected SCRAM"
            )


def _answer(say: Say, body: bytes) -> None:
    say(b"p" + struct.pack(">i", 4 + len(body)) + body)


class _Scram:
    """The client's part of a SCRAM exchange."""

    def __init__(self, password: str) -> None:
        self._password = password.encode()
        self._bare = f"n=,r={secrets.token_urlsafe(18)}"

    def first(self) -> str:
        return _NO_BINDING + self._bare

    def proof(self, challenge: str) -> str:
        attributes = dict(part.split("=", 1) for part in challenge.split(","))
        salted = hashlib.pbkdf2_hmac(
            "sha256", self._password, base64.b64decode(attributes["s"]), int(attributes["i"])
        )
        key = _hmac(salted, b"Client Key")
        binding = base64.b64encode(_NO_BINDING.encode()).decode()
        last = f"c={binding},r={attributes['r']}"
        signed = _hmac(hashlib.sha256(key).digest(), f"{self._bare},{challenge},{last}".encode())
        proof = bytes(a ^ b for a, b in zip(key, signed, strict=True))
        return f"{last},p={base64.b64encode(proof).decode()}"


def _hmac(key: bytes, text: bytes) -> bytes:
    return hmac.digest(key, text, "sha256")
