"""Rules that find the identity of an input in what a pipeline wrote.

The identity travels in the record. A rule tells where: `json:$.order_id`, `key`, `header:order-id`
or `regex:id=([0-9]+)`. Effects without an identity make a run invalid: nothing is guessed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

RULES: Final = "json:$.FIELD, header:NAME, key or regex:PATTERN"
"""The syntax of all rules, for messages."""

_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")
_PATH = re.compile(r"\$(?:\.[^.\[\]]+|\[\d+\])+")
_EACH: Final = "[*]"
"""A path step that selects each element of a list."""


class BadRule(ValueError):
    """An invalid rule; the text says what is expected."""


@dataclass(frozen=True, kw_only=True)
class Written:
    """A message of a topic, or a row as JSON, which has no key and headers."""

    value: str | None
    key: str | None = None
    headers: Mapping[str, str] | None = None


@dataclass(frozen=True, kw_only=True)
class Rule:
    """Where to find something in a message or row.

    Attributes:
        kind: `json`, `header`, `key` or `regex`.
        argument: a path, name or pattern; empty for `key`.
    """

    kind: str
    argument: str = ""

    @classmethod
    def parse_several(cls, text: str) -> Rule:
        """Parse a rule whose JSON path may have one `[*]`; raise `BadRule` if it is invalid."""
        if text.count(_EACH) != 1:
            return cls.parse(text)
        found = cls.parse(text.replace(_EACH, "[0]"))
        if found.kind != "json":
            raise BadRule(f"invalid rule {text!r}: expected [*] only in json:$.FIELD[*]")
        return cls(kind="json", argument=text.removeprefix("json:"))

    @classmethod
    def parse(cls, text: str) -> Rule:
        """Parse a rule as written on a command line; raise `BadRule` if it is invalid."""
        kind, _, argument = text.partition(":")
        if kind == "key" and not argument:
            return cls(kind=kind)
        if kind == "header" and argument:
            return cls(kind=kind, argument=argument)
        if kind == "json" and _PATH.fullmatch(argument):
            return cls(kind=kind, argument=argument)
        if kind == "regex" and argument:
            try:
                pattern = re.compile(argument)
            except re.error as error:
                raise BadRule(f"invalid regular expression {text!r}: {error}") from None
            if pattern.groups > 1:
                raise BadRule(
                    f"invalid regular expression {text!r}: expected at most one group, found "
                    f"{pattern.groups}"
                )
            return cls(kind=kind, argument=argument)
        raise BadRule(f"invalid rule {text!r}: expected {RULES}")

    def __str__(self) -> str:
        return self.kind if self.kind == "key" else f"{self.kind}:{self.argument}"

    @property
    def of_rows(self) -> bool:
        """Whether it applies to rows, which have neither key nor headers."""
        return self.kind in ("json", "regex")

    def find(self, written: Written) -> str | None:
        """Return the value as text; None if it is missing or empty."""
        match self.kind:
            case "key":
                return written.key or None
            case "header":
                return (written.headers or {}).get(self.argument) or None
            case "regex":
                found = re.search(self.argument, written.value or "")
                return (found and found[found.re.groups]) or None
        try:
            return text_of(at(json.loads(written.value or ""), self.argument))
        except (ValueError, LookupError, TypeError):
            return None

    def find_each(self, written: Written) -> tuple[str | None, ...]:
        """Return all values; (None,) if there are none."""
        path, each, rest = self.argument.partition(_EACH)
        if self.kind != "json" or not each:
            return (self.find(written),)
        try:
            content = json.loads(written.value or "")
            listed = at(content, path)
            if not isinstance(listed, list):
                return (None,)
            return tuple(text_of(at(one, f"${rest}")) for one in listed) or (None,)
        except (ValueError, LookupError, TypeError):
            return (None,)

    def why_not(self, written: Written) -> str:
        if self.kind != "json":
            return (
                "the pattern matches nothing, or only ''"
                if self.kind == "regex"
                else f"found no {self.kind}"
            )
        try:
            content = json.loads(written.value or "")
        except ValueError as error:
            return f"expected JSON: {error}"
        try:
            found = at(content, self.argument)
        except (LookupError, TypeError):
            if isinstance(content, Mapping):
                return f"found no such field, only {', '.join(map(str, content)) or '{}'}"
            return f"expected a JSON object with this field, found {type(content).__name__}"
        return f"expected a non-empty string or an integer, found {json.dumps(found)[:80]}"


def at(content: Any, path: str) -> Any:
    """Return the value at a path such as `$.order.id` or `$.items[0].sku`.

    Raises:
        LookupError: the path does not exist.
        TypeError: a value on the path is not a container.
    """
    for step in _STEP.finditer(path):
        name, number = step.groups()
        if name is not None and not isinstance(content, Mapping):
            raise TypeError(f"{path}: {type(content).__name__} has no fields")
        content = content[name if name is not None else int(number)]
    return content


def text_of(content: Any) -> str | None:
    """Return text as it is and whole numbers as digits; None for anything else."""
    if isinstance(content, bool) or content in (None, ""):
        return None
    if isinstance(content, float) and content.is_integer():
        return str(int(content))
    return str(content) if isinstance(content, str | int) else None
