r"""The values of EDN tokens: numbers, names, characters and strings.

EDN has more types than Python, so keywords, symbols and characters have types of their own. There
is one object per keyword and symbol, so `is` compares them. Functions raise `Problem` for invalid
input.

| EDN | Python |
| --- | --- |
| `nil`, `true`, `1`, `1N` | None, bool, int |
| `1.5`, `1.5M`, `1/2` | float, Decimal, Fraction |
| `"text"`, `\c` | str, Char |
| `:a/b`, `a/b` | Keyword, Symbol |
| `{…}` | Map: a hashable dict |
| `#tag form` | Tagged |
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, Final, NamedTuple

_INTEGER: Final = re.compile(r"[+-]?(?:0|[1-9][0-9]*)N?")
_HEX: Final = re.compile(r"[+-]?0[xX][0-9a-fA-F]+")
_FLOAT: Final = re.compile(r"[+-]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?M?")
_RATIO: Final = re.compile(r"([+-]?[0-9]+)/([0-9]+)")
_NUMBER: Final = re.compile(r"[+-]?[0-9]")
_NAME: Final = re.compile(r"[\w.*+!\-?$%&=<>|'/:#]+")
_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|[0-3]?[0-7]{1,2}|.|\Z)", re.DOTALL)
_ESCAPES: Final = {"t": "\t", "r": "\r", "n": "\n", "b": "\b", "f": "\f", "\\": "\\", '"': '"'}
_CHARS: Final = {
    "newline": "\n", "return": "\r", "space": " ", "tab": "\t", "formfeed": "\f",
    "backspace": "\b",
}  # fmt: skip
_LONGEST: Final = 60

WORDS: Final[dict[str, Any]] = {
    "nil": None, "true": True, "false": False,
    "##Inf": float("inf"), "##-Inf": float("-inf"), "##NaN": float("nan"),
}  # fmt: skip


class Problem(Exception):
    """A token or form is invalid; the caller adds its position."""


class Keyword:
    """A keyword, named without its colon. Create it with `keyword`."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f":{self.name}"


class Symbol:
    """A symbol. Create it with `symbol`."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


class Char(NamedTuple):
    """A single character."""

    char: str


class Map(dict[Any, Any]):
    """A map. It is hashable, so it must not be changed."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))


@dataclass(frozen=True)
class Tagged:
    """A tagged form for which the caller gave no converter."""

    tag: str
    value: Any


_keywords: dict[str, Keyword] = {}
_symbols: dict[str, Symbol] = {}


def keyword(name: str) -> Keyword:
    """Return the one keyword with this name."""
    return _keywords.setdefault(name, Keyword(name))


def symbol(name: str) -> Symbol:
    return _symbols.setdefault(name, Symbol(name))


def atom(token: str) -> Any:
    """Return the value of a number, keyword, symbol or character."""
    if token.isdecimal() and token.isascii() and (token[0] != "0" or token == "0"):
        return _int(token, 10)
    first = token[0]
    if first == ":":
        return keyword(_name(token[1:], "a keyword such as `:ok`", token))
    if first == "\\":
        return _char(token[1:])
    if _NUMBER.match(token):
        return _number(token)
    return symbol(_name(token, "a form", token))


def string(token: str) -> str:
    """Return the value of a string token, which includes its quotes."""
    if "\\" not in token:
        return token[1:-1]
    text = _ESCAPE.sub(_escaped, token[1:-1])
    if any("\ud800" <= c <= "\udfff" for c in text):
        try:  # Java writes characters beyond U+FFFF as surrogate pairs
            return text.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            raise Problem(
                r"expected both halves of a surrogate pair, such as \ud83d\ude00, found one"
            ) from None
    return text


def pairs(token: str) -> tuple[tuple[int, int], ...]:
    """Return the value of `[[1 2] [3 4]]`, quickly: with commas for blanks it is JSON."""
    return tuple(map(tuple, json.loads(token.replace(" ", ","))))


def shown(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def as_map(items: list[Any]) -> Map:
    """Build a map from alternating keys and values; no key may be duplicated."""
    if len(items) % 2:
        raise Problem(f"expected a value for each key of a map, found none for {shown(items[-1])}")
    made = Map(zip(items[::2], items[1::2], strict=True))
    if len(made) * 2 != len(items):
        raise Problem(f"expected unique keys in the map, found {_duplicate(items[::2])} twice")
    return made


def as_set(items: list[Any]) -> frozenset[Any]:
    made = frozenset(items)
    if len(made) != len(items):
        raise Problem(f"expected unique elements in the set, found {_duplicate(items)} twice")
    return made


def in_namespace(namespace: str, form: Any) -> Map:
    """Qualify the keywords and symbols of the map behind `#:namespace`."""
    if not namespace or not isinstance(form, Map):
        raise Problem(f"expected a map after `#:{namespace}`, found {shown(form)}")
    return as_map([x for key, value in form.items() for x in (_qualified(namespace, key), value)])


def _qualified(namespace: str, key: Any) -> Any:
    if isinstance(key, Keyword | Symbol) and "/" not in key.name:
        return (keyword if isinstance(key, Keyword) else symbol)(f"{namespace}/{key.name}")
    return key


def _duplicate(items: list[Any]) -> str:
    seen: set[Any] = set()
    for item in items:
        if item in seen:
            return shown(item)
        seen.add(item)
    return "one"


def _name(name: str, expected: str, token: str) -> str:
    if not _NAME.fullmatch(name) or name[0] in ":#" or name[-1] == ":":
        raise Problem(f"expected {expected}, found `{shown(token)}`")
    return name


def _number(token: str) -> int | float | Decimal | Fraction:
    if _INTEGER.fullmatch(token):
        return _int(token.removesuffix("N"), 10)
    if _HEX.fullmatch(token):
        return _int(token, 16)
    if _FLOAT.fullmatch(token) and not re.match(r"[+-]?0[0-9]", token):
        try:
            return Decimal(token[:-1]) if token[-1] == "M" else float(token)
        except InvalidOperation:
            raise Problem(f"expected a number, found `{shown(token)}`") from None
    if (ratio := _RATIO.fullmatch(token)) and ratio[2].strip("0"):
        return Fraction(_int(ratio[1], 10), _int(ratio[2], 10))
    raise Problem(f"expected a number, found `{shown(token)}`")


def _int(token: str, base: int) -> int:
    try:
        return int(token, base)
    except ValueError:  # Python limits integers to some thousand digits
        raise Problem(f"expected a shorter number, found {len(token)} digits") from None


def _char(name: str) -> Char:
    if len(name) == 1 and not name.isspace():
        return Char(name)
    if name in _CHARS:
        return Char(_CHARS[name])
    code = -1
    if re.fullmatch(r"u[0-9a-fA-F]{4}", name):
        code = int(name[1:], 16)
    elif re.fullmatch(r"o[0-3]?[0-7]{1,2}", name):
        code = int(name[1:], 8)
    if code < 0 or 0xD800 <= code <= 0xDFFF:
        raise Problem(rf"expected a character such as \a or \newline, found `\{shown(name)}`")
    return Char(chr(code))


def _escaped(match: re.Match[str]) -> str:
    escape = match[1]
    if escape in _ESCAPES:
        return _ESCAPES[escape]
    if len(escape) == 5:
        return chr(int(escape[1:], 16))
    if escape.isdecimal() and escape.isascii():
        return chr(int(escape, 8))
    raise Problem(
        rf"expected \\, \", \n, \t, \r, \b, \f or \u and four digits in a string, found `\{escape}`"
    )
