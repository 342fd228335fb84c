"""Measure for how long TCP connections of this machine have been idle in each direction.

The kernel's socket diagnostics (netlink, `sock_diag(7)`) report the milliseconds since data was
last sent and received, without privileges, as `ss -i` shows.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

_SOCK_DIAG: Final = 4
_BY_FAMILY: Final = 20
_DUMP: Final = 0x301
_ERROR, _DONE = 2, 3
_INFO: Final = 2
_ESTABLISHED: Final = 1 << 1
_HEADER: Final = struct.Struct("=IHHII")
_ATTRIBUTE: Final = struct.Struct("=HH")
_PORTS: Final = struct.Struct("!HH")
_PORTS_AT, _MESSAGE_BYTES = 4, 72
_SENT_AT, _RECEIVED_AT = 44, 52
"""`tcpi_last_data_sent` and `tcpi_last_data_recv` in `struct tcp_info`."""
_TIMEOUT_SECONDS: Final = 5.0
_TICK_SECONDS: Final = 0.02
"""Precision of the kernel's times and ours."""
_TRANSIT_SECONDS: Final = 0.5
"""How long a request may take through the proxies on a busy machine."""


class Silence(NamedTuple):
    """One end of an established connection: local and remote port, and seconds since last data."""

    port: int
    to: int
    sent: float
    received: float


def silences(to: int) -> list[Silence]:
    """Return the client ends of established connections to remote port `to`.

    Raises:
        OSError: no socket diagnostics, for instance a kernel without `inet_diag`.
    """
    families = (socket.AF_INET, socket.AF_INET6)
    return [one for family in families for one in _dump(family) if one.to == to]


def waiting_ports(to: int, seconds: float) -> set[int]:
    """Return the local ports of connections that may be waiting for the response to a request.

    These have sent data since the request and have received none since.

    Args:
        to: remote port.
        seconds: how long ago the request arrived.

    Raises:
        OSError: no socket diagnostics.
    """
    return {
        one.port
        for one in silences(to)
        if one.received >= max(one.sent, seconds - _TICK_SECONDS)
        and one.sent <= seconds + _TRANSIT_SECONDS
    }


def _dump(family: int) -> Iterator[Silence]:
    request = struct.pack(
        "=BBBBI", family, socket.IPPROTO_TCP, 1 << (_INFO - 1), 0, _ESTABLISHED
    ) + bytes(48)
    header = _HEADER.pack(_HEADER.size + len(request), _BY_FAMILY, _DUMP, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _SOCK_DIAG) as kernel:
        kernel.settimeout(_TIMEOUT_SECONDS)
        kernel.send(header + request)
        while True:
            for kind, body in _messages(kernel.recv(1 << 18)):
                if kind == _DONE:
                    return
                if kind == _ERROR:
                    raise OSError(
                        -struct.unpack_from("=i", body)[0],
                        "the kernel refused socket diagnostics (sock_diag)",
                    )
                if (info := _info(body)) is not None:
                    port, to = _PORTS.unpack_from(body, _PORTS_AT)
                    yield Silence(port, to, *info)


def _messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    while len(data) >= _HEADER.size:
        length, kind, *_ = _HEADER.unpack_from(data)
        yield kind, data[_HEADER.size : length]
        data = data[_aligned(length) :]


def _info(body: bytes) -> tuple[float, float] | None:
    at = _MESSAGE_BYTES
    while at + _ATTRIBUTE.size <= len(body):
        length, kind = _ATTRIBUTE.unpack_from(body, at)
        if kind == _INFO:
            info = body[at + _ATTRIBUTE.size : at + length]
            sent, received = (
                struct.unpack_from("=I", info, n)[0] for n in (_SENT_AT, _RECEIVED_AT)
            )
            return sent / 1000, received / 1000
        at += max(_aligned(length), _ATTRIBUTE.size)
    return None


def _aligned(length: int) -> int:
    return (length + 3) & ~3
