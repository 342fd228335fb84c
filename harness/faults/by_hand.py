"""Parse faults given on the command line, such as `isolate leader:payments-0`; see `Word`."""

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
    """The command-line form of a fault: its name, then the words of its fields in order."""

    fault: type[Any]
    """Has an `example` that begins with its name; its docstring's first paragraph describes it."""

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
        """The placeholders of the words after the name. A TARGET can be any role in `roles`."""
        return [each for _, word, kind in self._words() for each in word.takes(kind)]

    @property
    def usage(self) -> str:
        """The usage line, e.g. `isolate TARGET`."""
        options = [f"[--{field} {word.usage}]" for field, word, _ in self._words(option=True)]
        return " ".join([self.name, *self.takes, *options])

    def read(self, words: Sequence[str]) -> Fault:
        """Parse the words after the name; raise `ValueError` if they do not match the usage."""
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
    """Return all such faults by name; raise `BadExtension` if two have the same name."""
    kinds = [
        kind for kind in fault_classes() if hasattr(kind, "inject") and "example" in vars(kind)
    ]
    named = by_name(((ByHand(kind).name, kind) for kind in kinds), "faults")
    return {name: ByHand(kind) for name, kind in named.items()}


def asked(name: str, words: Sequence[str]) -> Fault:
    """Parse a fault; raise `UnknownFault` if it is unknown or its words are invalid."""
    try:
        entry = by_hand()[name]
    except KeyError:
        known = ", ".join(by_hand())
        raise UnknownFault(f"unknown fault {name!r}: expected one of {known}") from None
    try:
        return entry.read(words)
    except ValueError as error:  # also raised by the fault itself, e.g. for an unknown window
        raise UnknownFault(str(error)) from None
