"""Words of a fault that is written by hand, and how each is read.

A field of a fault that is written by hand has a `Word` in its annotation. What its type says is not
said again: an integer is an amount, a `Literal` one of its values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args, get_origin

from onceproof.harness.faults.targets.base import is_numbered
from onceproof.harness.links import disturbances


class UnknownFault(ValueError):
    """No such fault, or not with these words; the text says what would be right."""


@dataclass(frozen=True)
class Word:
    """How a field is written by hand.

    Attributes:
        usage: the word in a usage line, or several; empty: the values of the field's `Literal`.
        read: makes the value of those words; by default as the field's type says.
        noun: what a refused value is called; by default the field's name.
        also: a field that is in the same word; `read` then makes a pair.
        option: it may come behind the others, as `--FIELD`.
    """

    usage: str = ""
    read: Callable[..., Any] | None = None
    noun: str = ""
    also: str | None = None
    option: bool = False

    def takes(self, kind: Any) -> list[str]:
        """What stands for it in a usage line, given the field's type."""
        return self.usage.split() or ["|".join(get_args(kind))]

    def value(self, texts: Sequence[str], field: str, kind: Any) -> Any:
        """What a field of this name and type gets.

        Raises:
            ValueError: it cannot be that; the text says what it can.
        """
        if self.read is not None:
            return self.read(*texts)
        (text,) = texts
        if get_origin(kind) is Literal:
            return one_of(get_args(kind), self.noun or field, text)
        return amount(text) if kind is int else text


def one_of(known: Sequence[str], noun: str, word: str) -> str:
    """One of some words.

    Raises:
        UnknownFault: it is none of them.
    """
    if word in known:
        return word
    either = " or ".join(filter(None, (", ".join(known[:-1]), known[-1])))
    raise UnknownFault(f"invalid {noun} {word!r}: expected {either}")


def _member(word: str) -> str:
    """A member of a consumer group as it is written by hand: `member-0`.

    Raises:
        UnknownFault: it is none.
    """
    if is_numbered(word, "member"):
        return word
    raise UnknownFault(f"{word!r} is no member; expected member-0, member-1 …")


def amount(word: str, *, least: int = 1) -> int:
    """A number as it is written by hand.

    Raises:
        UnknownFault: it is none, or less than there can be.
    """
    if word.isascii() and word.isdigit() and int(word) >= least:
        return int(word)
    raise UnknownFault(f"invalid amount {word!r}: expected an integer ≥ {least}")


Source = Annotated[str, Word("SOURCE")]
"""An audience, or a broker."""
Audience = Annotated[str, Word("AUDIENCE")]
Way = Annotated[disturbances.Way, Word("WAY", noun="direction")]
Member = Annotated[str, Word("MEMBER", _member)]
TransactionalId = Annotated[str, Word("TRANSACTIONAL_ID")]
