"""Parse the words of a fault given by hand.

A field that can be given by hand has a `Word` in its annotation. Its type determines the rest: an
`int` is an amount, a `Literal` one of its values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args, get_origin

from onceproof.harness.faults.targets.base import is_numbered
from onceproof.harness.links import disturbances


class UnknownFault(ValueError):
    """The fault is unknown or its words are invalid; the message says what is expected."""


@dataclass(frozen=True)
class Word:
    """The syntax of one field.

    Attributes:
        usage: placeholders in the usage line; empty: the values of the field's `Literal`.
        read: parses the words; None parses by the field's type.
        noun: name of the value in error messages; empty: the field's name.
        also: another field given by the same word; `read` then returns a pair.
        option: whether it is an option `--FIELD` after the other words.
    """

    usage: str = ""
    read: Callable[..., Any] | None = None
    noun: str = ""
    also: str | None = None
    option: bool = False

    def takes(self, kind: Any) -> list[str]:
        """Return its placeholders in the usage line, given the field's type."""
        return self.usage.split() or ["|".join(get_args(kind))]

    def value(self, texts: Sequence[str], field: str, kind: Any) -> Any:
        """Parse the value of a field of this name and type; raise `ValueError` if it is invalid."""
        if self.read is not None:
            return self.read(*texts)
        (text,) = texts
        if get_origin(kind) is Literal:
            return one_of(get_args(kind), self.noun or field, text)
        return amount(text) if kind is int else text


def one_of(known: Sequence[str], noun: str, word: str) -> str:
    """Return the word if it is one of `known`; otherwise raise `UnknownFault`."""
    if word in known:
        return word
    either = " or ".join(filter(None, (", ".join(known[:-1]), known[-1])))
    raise UnknownFault(f"invalid {noun} {word!r}: expected {either}")


def _member(word: str) -> str:
    if is_numbered(word, "member"):
        return word
    raise UnknownFault(f"invalid member {word!r}: expected member-0, member-1 …")


def amount(word: str, *, least: int = 1) -> int:
    """Parse an integer; raise `UnknownFault` if it is not one or is less than `least`."""
    if word.isascii() and word.isdigit() and int(word) >= least:
        return int(word)
    raise UnknownFault(f"invalid amount {word!r}: expected an integer ≥ {least}")


Source = Annotated[str, Word("SOURCE")]
"""An audience or a broker."""
Audience = Annotated[str, Word("AUDIENCE")]
Way = Annotated[disturbances.Way, Word("WAY", noun="direction")]
Member = Annotated[str, Word("MEMBER", _member)]
TransactionalId = Annotated[str, Word("TRANSACTIONAL_ID")]
