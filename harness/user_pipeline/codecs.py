"""User functions that encode inputs and decode outputs, for Avro, Protobuf or a custom format.

Everything between the two works with JSON or text.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from onceproof.harness.user_pipeline.effects import FUNCTION, call, function_of
from onceproof.harness.user_pipeline.identity import BadRule
from onceproof.harness.user_pipeline.named_values import assigned

_CACHED_RECORDS: Final = 50_000
"""Cache size in records: a trial reads and writes the same records many times."""


def text_of_bytes(data: bytes | None) -> str | None:
    """Decode UTF-8, with invalid bytes escaped: different contents must remain different."""
    return None if data is None else data.decode(errors="backslashreplace")


def decoded(function: str | None, data: bytes | None) -> str | None:
    """Return the content of a record as text; a result that is not text becomes JSON.

    Args:
        function: `FILE.py:NAME` of a function that takes bytes; None: decode as UTF-8.

    Raises:
        BadRule: the function fails, or returns something that JSON cannot represent.
    """
    if function is None or data is None:
        return text_of_bytes(data)
    try:
        content = function_of(function)(data)
        return content if isinstance(content, str) else json.dumps(content, default=str)
    except Exception as error:
        raise BadRule(_failure(function, error, data)) from error


decoded_cached = lru_cache(maxsize=_CACHED_RECORDS)(decoded)


@lru_cache(maxsize=_CACHED_RECORDS)
def encoded(function: str, value: str) -> bytes:
    """Return an input's bytes; `function` takes parsed JSON, or text if it is not JSON.

    Raises:
        BadRule: the function fails, or does not return bytes.
    """
    found: Any = call(function, value)
    if not isinstance(found, bytes):
        raise BadRule(f"{function} returned {type(found).__name__}; expected bytes")
    return found


def decoders(texts: Sequence[str], places: Sequence[str]) -> dict[str, str]:
    return by_name("--decode", texts, places, thing="topics")


def by_name(
    option: str, texts: Sequence[str], names: Sequence[str], *, thing: str
) -> dict[str, str]:
    """Return name → function for an option given once for all names, or once for each.

    Raises:
        BadRule: the function or name does not exist, or a name has two functions.
    """
    given = []
    for text in texts:
        name, _, function = text.rpartition("=")
        if not FUNCTION.fullmatch(function) or (name and name not in names):
            raise BadRule(
                f"invalid {option} {text!r}: expected FILE.py:FUNCTION, or "
                f"{thing[:-1].upper()}=FILE.py:FUNCTION with one of the {thing} {', '.join(names)}"
            )
        function_of(function)
        given.append((text, name, function))
    return assigned(option, given, names, thing=thing)


def check_function(option: str, text: str) -> None:
    """Raise `BadRule` unless the option names an existing function."""
    if not FUNCTION.fullmatch(text):
        raise BadRule(f"invalid {option} {text!r}: expected FILE.py:FUNCTION")
    function_of(text)


def _failure(function: str, error: Exception, data: bytes) -> str:
    return f"{function} raised {type(error).__name__}: {error} for {data[:60]!r}"
