"""Functions of the user between bytes and contents: for Avro, Protobuf or a format of their own.

One writes an input as the pipeline reads it, the other reads what it writes; all else works with
contents in JSON.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from onceproof.harness.user_pipeline.effects import FUNCTION, call, function_of
from onceproof.harness.user_pipeline.identity import BadRule
from onceproof.harness.user_pipeline.named_values import assigned

_KEPT: Final = 50_000
"""Records that are read or written over and over in a trial."""


def text_of_bytes(data: bytes | None) -> str | None:
    """UTF-8, with numbers for bytes that are none: contents that differ must stay different."""
    return None if data is None else data.decode(errors="backslashreplace")


def decoded(function: str | None, data: bytes | None) -> str | None:
    """Content of a record as text; what a function returns that is no text is JSON.

    Args:
        function: `FILE.py:NAME` of one that takes bytes; None: they are text.
        data: the value of a record; one without a value stays without.

    Raises:
        BadRule: the function fails, or returns what JSON does not have.
    """
    if function is None or data is None:
        return text_of_bytes(data)
    try:
        content = function_of(function)(data)
        return content if isinstance(content, str) else json.dumps(content, default=str)
    except Exception as error:
        raise BadRule(_failure(function, error, data)) from error


decoded_again = lru_cache(maxsize=_KEPT)(decoded)
"""The same, for records that are looked at over and over."""


@lru_cache(maxsize=_KEPT)
def encoded(function: str, value: str) -> bytes:
    """Bytes of an input.

    Args:
        function: `FILE.py:NAME` of one that takes an input as JSON says it, or else as text.

    Raises:
        BadRule: the function fails, or does not return bytes.
    """
    found: Any = call(function, value)
    if not isinstance(found, bytes):
        raise BadRule(f"{function} returned {type(found).__name__}; expected bytes")
    return found


def decoders(texts: Sequence[str], places: Sequence[str]) -> dict[str, str]:
    """Each place that has a function, and its function.

    Args:
        texts: `FILE.py:FUNCTION` for all places, or `PLACE=FILE.py:FUNCTION` for one.
        places: names of all of them.

    Raises:
        BadRule: there is no such function or place, or a place has two.
    """
    return by_name("--decode", texts, places, thing="topics")


def by_name(
    option: str, texts: Sequence[str], names: Sequence[str], *, thing: str
) -> dict[str, str]:
    """The functions of an option that is given once for all, or once for each.

    Raises:
        BadRule: there is no such function or name, or a name has two.
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
    """Raise `BadRule` if an option does not name a function that is there."""
    if not FUNCTION.fullmatch(text):
        raise BadRule(f"invalid {option} {text!r}: expected FILE.py:FUNCTION")
    function_of(text)


def _failure(function: str, error: Exception, data: bytes) -> str:
    return f"{function} failed with {type(error).__name__}: {error}, for {data[:60]!r}"
