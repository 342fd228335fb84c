"""Connect to Valkey. Imported only by programs that are started with its packages."""

from __future__ import annotations

from typing import Final

from valkey import Valkey

SECONDS: Final = 2.0
"""Timeout of an answer."""


def connect(server: str, name: str) -> Valkey:
    """Return a connection with a name, which does not retry by itself; `server` is `host:port`."""
    host, _, port = server.rpartition(":")
    return Valkey(
        host=host,
        port=int(port),
        client_name=name,
        decode_responses=True,
        socket_timeout=SECONDS,
        socket_connect_timeout=SECONDS,
        single_connection_client=True,
    )
