"""Strategies for EDN values, and random notations for each."""

from __future__ import annotations

import random
from decimal import Decimal
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from onceproof.checkers.imports.edn import Char, Keyword, Map, Symbol, Tagged, keyword, symbol

_BLANKS = (" ", ",", " , ", "\n", "\t", ' ; a comment ] } "\n', "\r\n", " #_ 1 ", " #_[a #_b c] ")
_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\", "\b": "\\b"}

names = st.from_regex(r"[a-zA-Z*!_?$&=<>][a-zA-Z0-9*!_?$%&=<>.+\-]{0,8}", fullmatch=True).filter(
    lambda name: name not in ("nil", "true", "false")
)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
scalars = st.one_of(
    st.none(),
    st.integers(),
    st.integers(min_value=-(2**80), max_value=2**80),
    st.floats(allow_nan=False, allow_infinity=True),
    st.decimals(allow_nan=False, allow_infinity=False, places=3).filter(lambda d: len(str(d)) < 30),
    st.fractions(max_denominator=999).filter(lambda f: f.denominator > 1),
    texts,
    names.map(keyword),
    st.tuples(names, names).map(lambda pair: keyword("/".join(pair))),
    names.map(symbol),
    st.characters(exclude_categories=["Cs"], max_codepoint=0xFFFF).map(Char),
)
# Keys and elements of one type: in a Python dict, 1, 1.0 and True are the same key.
_distinct = st.one_of(texts, names.map(keyword))
values = st.recursive(
    st.one_of(scalars, st.booleans()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=5).map(tuple),
        st.dictionaries(_distinct, inner, max_size=5).map(Map),
        st.frozensets(_distinct, max_size=5),
        st.frozensets(st.lists(st.integers(), max_size=2).map(tuple), max_size=3),
        st.tuples(names.filter(lambda name: name[0].isalpha()), inner).map(
            lambda pair: Tagged(*pair)
        ),
    ),
    max_leaves=25,
)


def to_edn(value: Any, rng: random.Random) -> str:
    """Return the value as EDN with random blanks, comments and discards."""
    gap = rng.choice(_BLANKS) if rng.random() < 0.3 else " "
    if isinstance(value, Map):
        inner = gap.join(f"{to_edn(k, rng)}{gap}{to_edn(v, rng)}" for k, v in value.items())
        return f"{{{inner}}}"
    if isinstance(value, frozenset):
        return f"#{{{gap.join(to_edn(v, rng) for v in value)}}}"
    if isinstance(value, Tagged):
        return f"#{value.tag}{gap}{to_edn(value.value, rng)}"
    if isinstance(value, Char):
        return _char(value.char, rng)
    if isinstance(value, tuple):
        inner = gap.join(to_edn(v, rng) for v in value)
        return f"[{inner}]" if rng.random() < 0.7 else f"({inner})"
    return _scalar(value, rng)


def _scalar(value: Any, rng: random.Random) -> str:
    if value is None or isinstance(value, bool):
        return {None: "nil", True: "true", False: "false"}[value]
    if isinstance(value, Keyword | Symbol):
        return repr(value)
    if isinstance(value, str):
        return f'"{"".join(_in_string(c, rng) for c in value)}"'
    if isinstance(value, Decimal):
        return f"{value:f}M"
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    if isinstance(value, float):
        infinite = {float("inf"): "##Inf", float("-inf"): "##-Inf"}
        return infinite.get(value) or repr(value)
    return f"{value}{rng.choice(('', 'N'))}"


def _in_string(char: str, rng: random.Random) -> str:
    if char in '"\\' or (char in _ESCAPES and rng.random() < 0.5):
        return _ESCAPES[char]
    if rng.random() < 0.1:
        halves = char.encode("utf-16-be")
        return "".join(f"\\u{halves[i : i + 2].hex()}" for i in range(0, len(halves), 2))
    return char


def _char(char: str, rng: random.Random) -> str:
    named = {"\n": "newline", "\t": "tab", " ": "space", "\r": "return"}
    if char in named:
        return f"\\{named[char]}"
    plain = char.isprintable() and not char.isspace()
    return f"\\{char}" if plain and rng.random() < 0.7 else f"\\u{ord(char):04x}"
