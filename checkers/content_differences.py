"""Describe how two contents differ by field, if a history stores contents instead of digests."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

_SHOWN: Final = 5
"""Maximum number of fields named."""
_LONGEST: Final = 60
"""Maximum length of a value shown, in characters."""
_ABSENT: Final = object()


def differences(expected: object, found: object) -> str:
    """Return e.g. `total: expected 5, found 7; note: expected "x", found nothing`, or ""."""
    contents = [_content(expected), _content(found)]
    if not all(isinstance(content, dict | list) for content in contents):
        return ""
    fields = list(_differing("", *contents))
    more = [f"and {len(fields) - _SHOWN} more fields"] if len(fields) > _SHOWN else []
    return "; ".join([*fields[:_SHOWN], *more])


def _content(text: object) -> Any:
    try:
        return json.loads(str(text))
    except ValueError:
        return None


def _differing(path: str, expected: Any, found: Any) -> Iterator[str]:
    if isinstance(expected, Mapping) and isinstance(found, Mapping):
        for name in dict.fromkeys([*expected, *found]):
            inside = f"{path}.{name}" if path else name
            yield from _differing(inside, expected.get(name, _ABSENT), found.get(name, _ABSENT))
    elif _ABSENT in (expected, found) or _text(expected) != _text(found):
        where = f"{path}: " if path else ""
        yield f"{where}expected {_shown(expected)}, found {_shown(found)}"


def _text(value: Any) -> str:
    """Return JSON, in which `false` is not 0, as it is in a Python list."""
    return json.dumps(value, sort_keys=True)


def _shown(value: Any) -> str:
    if value is _ABSENT:
        return "no such field"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
