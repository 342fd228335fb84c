"""Format numbers, counts and times, and make foreign text safe.

All text from a history is foreign and passes `visible`, so that control characters, terminal
sequences and direction marks have no effect.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

UNSEALED = "SEAL BROKEN"
"""Heads a judgement of a history that was changed after the run sealed it."""
_KEPT = frozenset("\n\t")
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_WORDS = {0: "not at all", 1: "once", 2: "twice", 3: "three times", 4: "four times"}


def visible(text: str) -> str:
    r"""Escape invisible characters (controls, direction marks, lone surrogates), as in `\u202e`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        _escape(c) if c not in _KEPT and unicodedata.category(c) in _HIDDEN else c for c in text
    )


def _escape(char: str) -> str:
    code = ord(char)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def line(text: str) -> str:
    """Return the visible text on one line."""
    return " ".join(visible(text).split())


def storable(text: str) -> str:
    """Escape what UTF-8 cannot encode."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def cut(text: str, limit: int) -> str:
    """Cut to `limit` characters, and append how many are missing."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… ({len(text) - limit} more characters)"


def number(value: int | float) -> str:
    """Format 1250 as `1 250`, with a non-breaking space."""
    return f"{value:,}".replace(",", "\u00a0")


def plural(count: int, one: str, many: str | None = None) -> str:
    """Return `1 record`, `1 250 records`."""
    return f"{number(count)} {one if count == 1 else many or one + 's'}"


def times(count: int) -> str:
    """Return `not at all`, `once`, `twice`, `7 times`."""
    return _WORDS.get(count) or f"{number(count)} times"


def seconds(value: float | None) -> str:
    """Return `12.3 s`, `0.004 s`, `3 min 05 s`; a dash for None."""
    if value is None:
        return "–"
    if abs(value) >= 180:
        whole = round(abs(value))
        sign = "-" if value < 0 else ""
        return f"{sign}{whole // 60} min {whole % 60:02d} s"
    return f"{value:.3f} s" if 0 < abs(value) < 0.1 else f"{value:.1f} s"


def listed(parts: Iterable[str], last: str = "and") -> str:
    """Return `a`, `a and b`, `a, b and c`."""
    items: Sequence[str] = list(parts)
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} {last} {items[-1]}"


def sentence(text: str) -> str:
    """Capitalise the first letter, and add a full stop."""
    text = text.strip()
    if not text:
        return text
    return text[0].upper() + text[1:] + ("" if text[-1] in ".!?…" else ".")
