"""Open a connection to a broker: TCP, then TLS, then SASL.

kafka-python encodes, decodes and computes SCRAM. `CredentialsRefused` is permanent and must not be
retried; every other failure is an `OSError` and may be transient.
"""

from __future__ import annotations

import socket
import ssl
import struct
from collections.abc import Generator, Mapping
from typing import Any, Final

from kafka.net.sasl.scram import ScramClient
from kafka.protocol.metadata import ApiVersionsRequest, ApiVersionsResponse
from kafka.protocol.sasl import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)

from onceproof.harness.kafka.connecting.oauth import token
from onceproof.harness.kafka.connecting.properties import (
    OAUTHBEARER,
    is_authenticated,
    is_encrypted,
)
from onceproof.harness.kafka.connecting.refused import CredentialsRefused
from onceproof.harness.kafka.connecting.tls import tls_context
from onceproof.harness.kafka.errors import error_name

_VERSION: Final = 1


def connect(address: str, properties: Mapping[str, str], seconds: float) -> socket.socket:
    """Open an authenticated socket to the broker at `host:port`.

    Raises:
        CredentialsRefused: the broker refuses the credentials, or its certificate is not accepted.
        OSError: the broker is unreachable or does not answer in time.
    """
    host, port = address.rsplit(":", 1)
    sock = socket.create_connection((host, int(port)), seconds)
    try:
        sock = _start_tls(sock, address, properties)
        if is_authenticated(properties):
            _authenticate(sock, address, properties)
    except BaseException:
        sock.close()
        raise
    return sock


def _start_tls(sock: socket.socket, address: str, properties: Mapping[str, str]) -> socket.socket:
    """Add TLS to the connection, if the properties ask for it; raises as `connect`."""
    if not is_encrypted(properties):
        return sock
    try:
        context = tls_context(properties)
    except OSError as error:
        raise CredentialsRefused(
            f"the certificates cannot be used: {error.strerror or error}. Check ssl.ca.location, "
            "ssl.certificate.location, ssl.key.location and ssl.key.password"
        ) from None
    try:
        sock = context.wrap_socket(sock, server_hostname=address.rpartition(":")[0])
        # In TLS 1.3 a client learns only from the first answer whether its certificate is accepted.
        _request(sock, ApiVersionsRequest(), 0, ApiVersionsResponse)
    except ssl.SSLCertVerificationError as error:
        raise CredentialsRefused(
            f"{address}: the broker's certificate cannot be verified: {error.verify_message}. "
            "Check ssl.ca.location, and the certificate's expiry date and addresses"
        ) from None
    except ssl.SSLError as error:
        if "ALERT" not in (error.reason or ""):
            raise
        raise CredentialsRefused(
            f"{address}: the broker rejects the client certificate ({error.reason}). Check "
            "ssl.certificate.location and ssl.key.location, whether the broker trusts the issuer, "
            "and the expiry date"
        ) from None
    return sock


def _authenticate(sock: socket.socket, address: str, properties: Mapping[str, str]) -> None:
    mechanism = properties["sasl.mechanism"]
    found = _request(
        sock, SaslHandshakeRequest(mechanism=mechanism), _VERSION, SaslHandshakeResponse
    )
    if found.error_code:
        offered = ", ".join(found.mechanisms or []) or "none"
        raise CredentialsRefused(
            f"{address}: the broker does not support {mechanism} "
            f"({error_name(found.error_code)}); it supports {offered}. Check sasl.mechanism and "
            "security.protocol"
        )
    login = _client_messages(properties)
    answer: bytes | None = None
    while True:
        try:
            part = login.send(answer)
        except StopIteration:
            return
        except (ValueError, KeyError):
            raise CredentialsRefused(
                f"{address}: the broker did not prove that it knows the password. "
                "Check that this address is one of your brokers"
            ) from None
        request = SaslAuthenticateRequest(auth_bytes=part)
        found = _request(sock, request, _VERSION, SaslAuthenticateResponse)
        answer = bytes(found.auth_bytes or b"")
        # A broker that rejects a token answers with the reason, in JSON.
        if found.error_code or (mechanism == OAUTHBEARER and answer):
            raise CredentialsRefused(_refusal(address, mechanism, found))


def _client_messages(properties: Mapping[str, str]) -> Generator[bytes, bytes | None]:
    """Yield the client's SASL messages; the caller sends in the broker's answers."""
    match properties["sasl.mechanism"]:
        case "PLAIN":
            user, password = properties["sasl.username"], properties["sasl.password"]
            yield f"\0{user}\0{password}".encode()
        case "OAUTHBEARER":
            yield f"n,,\x01auth=Bearer {token(properties)}\x01\x01".encode()
        case mechanism:
            name = properties["sasl.username"].replace("=", "=3D").replace(",", "=2C")
            client = ScramClient(name, properties["sasl.password"], mechanism)
            client.process_server_first_message((yield client.first_message()))
            client.process_server_final_message((yield client.final_message()))


def _refusal(address: str, mechanism: str, found: Any) -> str:
    what = "the token" if mechanism == OAUTHBEARER else "sasl.username and sasl.password"
    why = (
        f"{error_name(found.error_code)}: {found.error_message}"
        if found.error_code
        else "invalid token"
    )
    return (
        f"{address}: the broker rejects the {mechanism} credentials ({why}). Check {what}, and "
        "whether the credentials have expired or were removed"
    )


def _request(sock: socket.socket, request: Any, version: int, answer: Any) -> Any:
    request.with_header(correlation_id=0, client_id="onceproof-auditor")
    sock.sendall(request.encode(version=version, framed=True, header=True))
    (size,) = struct.unpack(">i", exactly(sock, 4))
    return answer.decode(exactly(sock, size), version=version, header=True)


def exactly(sock: socket.socket, size: int) -> bytes:
    """Receive exactly `size` bytes; raise `OSError` if the connection ends or times out first."""
    data = bytearray()
    while len(data) < size:
        part = sock.recv(min(size - len(data), 1 << 20))
        if not part:
            raise ConnectionError("the broker closed the connection")
        data += part
    return bytes(data)
