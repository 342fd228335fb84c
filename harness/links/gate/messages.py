"""Decode and encode Kafka messages with kafka-python.

A response contains neither API nor version; both are taken from its request. A message without a
class in kafka-python can still be identified by its header, which is the same for all.
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
"""Bytes of the size field before the header."""
_REQUESTS: Final[dict[int, Any]] = {
    thing.API_KEY: thing
    for module in (admin, consumer, metadata, producer)
    for name, thing in vars(module).items()
    if name.endswith("Request")
}
FETCH: Final = int(ApiKey.Fetch)
METADATA: Final = int(ApiKey.Metadata)


def api_key(api: str) -> int:
    """Return the key of an API; raise `ValueError` if the name is unknown."""
    try:
        return int(ApiKey[api])
    except KeyError:
        raise ValueError(
            f"unknown Kafka API {api!r}: expected a name such as Produce or EndTxn"
        ) from None


def api_name(key: int) -> str:
    """Return the name of an API, or `API <key>` if unknown."""
    try:
        return str(ApiKey(key).name)
    except ValueError:
        return f"API {key}"


def client_apis() -> list[str]:
    """Return the names of the decodable APIs of producers and consumers, without administration."""
    modules = (consumer.__name__, metadata.__name__, producer.__name__)
    return sorted(
        api_name(key)
        for key, request in _REQUESTS.items()
        if request.__module__.startswith(modules) and decodable(key)
    )


def decodable(key: int) -> bool:
    return key in _REQUESTS and key in ResponseClassRegistry._response_class_registry


def error_code(name: str) -> int:
    """Return the code of an error; raise `ValueError` if the name is unknown."""
    codes = {error.message: code for code, error in kafka_errors.items() if code}
    if name not in codes:
        near = difflib.get_close_matches(name, codes, n=3, cutoff=0)
        raise ValueError(f"unknown Kafka error {name!r}: did you mean {' or '.join(near)}?")
    return int(codes[name])


def client_id(frame: bytes) -> str | None:
    """Return a request's client id, which has the same place in every header version."""
    found = RequestHeader.decode(io.BytesIO(frame[_PREFIX:])).client_id
    return None if found is None else str(found)


def decode_request(frame: bytes, key: int, version: int) -> Any:
    """Decode a request; a malformed one raises any of kafka-python's exceptions."""
    return _REQUESTS[key].decode(frame, version=version, header=True, framed=True)


def decode_response(frame: bytes, key: int, version: int) -> Any:
    return response_class(key).decode(frame, version=version, header=True, framed=True)


def response_class(key: int) -> Any:
    return ResponseClassRegistry._response_class_registry[key]


def encode(message: Any, version: int) -> bytes:
    # Not through the argument `version`, which response headers do not support.
    message._version = version
    return bytes(message.encode(framed=True, header=True))
