"""Kafka's messages as kafka-python knows them: the gate's only way to decode and to encode.

A response says neither its API nor its version; both come from its request.
What kafka-python has no class for can still be told by its header, which is the same for all.
"""

from __future__ import annotations

import difflib
import io
from typing import Any, Final

from kafka.errors import kafka_errors
from kafka.protocol import admin, consumer, metadata, producer
from kafka.protocol.api_header import RequestHeader, ResponseClassRegistry
from kafka.protocol.api_key import ApiKey

_PREFIX: Final = 4
"""Bytes of a frame before its header: its size."""
_REQUESTS: Final[dict[int, Any]] = {
    thing.API_KEY: thing
    for module in (admin, consumer, metadata, producer)
    for name, thing in vars(module).items()
    if name.endswith("Request")
}
METADATA: Final = int(ApiKey.Metadata)


def api_key(api: str) -> int:
    """The number of an API.

    Raises:
        ValueError: there is no API of that name.
    """
    try:
        return int(ApiKey[api])
    except KeyError:
        raise ValueError(
            f"{api!r} is no API of Kafka; expected a name such as Produce or EndTxn"
        ) from None


def api_name(key: int) -> str:
    """The name of an API, or its number where it has none."""
    try:
        return str(ApiKey(key).name)
    except ValueError:
        return f"API {key}"


def decodable(key: int) -> bool:
    return key in _REQUESTS and key in ResponseClassRegistry._response_class_registry


def error_code(name: str) -> int:
    """The number of an error.

    Raises:
        ValueError: there is no error of that name.
    """
    codes = {error.message: code for code, error in kafka_errors.items() if code is not None}
    if name not in codes:
        near = difflib.get_close_matches(name, codes, n=3, cutoff=0)
        raise ValueError(f"{name!r} is no error that kafka-python knows; near: {', '.join(near)}")
    return int(codes[name])


def client_id(frame: bytes) -> str | None:
    """Who says it sent a request: the same place in every version of the header."""
    found = RequestHeader.decode(io.BytesIO(frame[_PREFIX:])).client_id
    return None if found is None else str(found)


def decode_request(frame: bytes, key: int, version: int) -> Any:
    """A request; raises whatever a malformed one makes kafka-python raise."""
    return _REQUESTS[key].decode(frame, version=version, header=True, framed=True)


def decode_response(frame: bytes, key: int, version: int) -> Any:
    """A response; raises whatever a malformed one makes kafka-python raise."""
    return response_class(key).decode(frame, version=version, header=True, framed=True)


def response_class(key: int) -> Any:
    return ResponseClassRegistry._response_class_registry[key]


def encode(message: Any, version: int) -> bytes:
    """A message with its header, as a frame."""
    # Not by the argument `version`, which the headers of responses do not bear.
    message._version = version
    return bytes(message.encode(framed=True, header=True))
