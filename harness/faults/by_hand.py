"""Faults that can be asked for in a word or two: `isolate leader:payments-0`.

A fault says by its fields how it is asked for; see `Word`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, get_args, get_type_hints

from onceproof.harness.faults.base import Fault
from onceproof.harness.faults.modules import by_name, fault_classes
from onceproof.harness.faults.words import UnknownFault, Word


@dataclass(frozen=True)
class ByHand:
    """How a fault is asked for: by its name, and by the words of its fields in their order.

    Attributes:
        fault: its class. It has an `example`, which begins with its name, and its docstring begins
            with a sentence that says what it does.
    """

    fault: type[Any]

    @property
    def example(self) -> str:
        return str(self.fault.example)

    @property
    def name(self) -> str:
        return self.example.split()[0]

    @property
    def says(self) -> str:
        phrase = " ".join((self.fault.__doc__ or "").partition("\n\n")[0].split()).rstrip(".")
        return phrase if phrase[1:2].isupper() else phrase[:1].lower() + phrase[1:]

    @property
    def takes(self) -> list[str]:
        """What the words after its name mean; a TARGET can be any role of those in `roles`."""
        return [each for _, word, kind in self._words() for each in word.takes(kind)]

    @property
    def usage(self) -> str:
        """E.g. `isolate TARGET`."""
        options = [f"[--{field} {word.usage}]" for field, word, _ in self._words(option=True)]
        return " ".join([self.name, *self.takes, *options])

    def read(self, words: Sequence[str]) -> Fault:
        """The fault with these words behind its name.

        Raises:
            ValueError: it takes other words.
        """
        given = list(words)
        values: dict[str, Any] = {}
        for field, _, _ in self._words(option=True):
            if (option := f"--{field}") in given[:-1]:
                place = given.index(option)
                _, values[field] = given[place : place + 2]
                del given[place : place + 2]
        if len(given) != len(self.takes):
            raise UnknownFault(f"expected {self.usage}, found {' '.join([self.name, *words])}")
        texts = iter(given)
        for field, word, kind in self._words():
            value = word.value([next(texts) for _ in word.takes(kind)], field, kind)
            if word.also is None:
                values[field] = value
            else:
                values[field], values[word.also] = value
        fault: Fault = self.fault(**values)
        return fault

    def _words(self, *, option: bool = False) -> Iterator[tuple[str, Word, Any]]:
        hints = get_type_hints(self.fault, include_extras=True)
        for field in fields(self.fault):
            for word in getattr(hints[field.name], "__metadata__", ()):
                if isinstance(word, Word) and word.option is option:
                    yield field.name, word, get_args(hints[field.name])[0]


@cache
def by_hand() -> dict[str, ByHand]:
    """All that can be asked for, by name.

    Raises:
        BadExtension: two have the same name.
    """
    kinds = [
        kind for kind in fault_classes() if hasattr(kind, "inject") and "example" in vars(kind)
    ]
    named = by_name(((ByHand(kind).name, kind) for kind in kinds), "faults")
    return {name: ByHand(kind) for name, kind in named.items()}


def asked(name: str, words: Sequence[str]) -> Fault:
    """The fault that is asked for.

    Raises:
        UnknownFault: there is none of that name, or it takes other words.
    """
    try:
        entry = by_hand()[name]
    except KeyError:
        known = ", ".join(by_hand())
        raise UnknownFault(f"there is no fault «{name}»; there are {known}") from None
    try:
        return entry.read(words)
    except ValueError as error:  # also what the fault itself refuses, such as a window it has not
        raise UnknownFault(str(error)) from None
