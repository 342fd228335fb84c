"""Expected contents of effects, as returned by a user's function.

Contents are compared as JSON: field order does not matter, 5 equals 5.0, and text that is not JSON
is compared verbatim. The history stores contents instead of digests, so that a report can name the
field that differs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from onceproof.harness.history.identity import digest
from onceproof.harness.sinks.base import Effect
from onceproof.harness.user_pipeline.codecs import by_name
from onceproof.harness.user_pipeline.effects import ExpectedEffects, call
from onceproof.harness.user_pipeline.identity import BadRule, Rule, Written

_PLAIN: Final = frozenset({str, int, bool, type(None)})
_encode: Final = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode
_LONGEST: Final = 4_000
"""Maximum length of a content in the history; longer ones are cut and end with their digest."""


@dataclass(frozen=True, kw_only=True)
class Contents(ExpectedEffects):
    """The effects of each input in one output, with their contents.

    `function` takes an input as `ExpectedEffects.function` does. It returns the content of the
    effect, a list of contents that `key` tells apart, or None for no effect. Fields at
    paths in `ignored` are not compared.
    """

    ignored: tuple[str, ...] = ()

    @classmethod
    def of(cls, function: str, *, key: str | None, ignored: Iterable[str]) -> Contents:
        """Parse the values of command-line options; raise `BadRule` for invalid rules."""
        rule = None if key is None else Rule.parse(key)
        if rule is not None and not rule.of_rows:
            raise BadRule(
                f"--effect-key {rule}: expected json:$.FIELD or regex:PATTERN with --expect"
            )
        paths = tuple(path_of(each) for each in ignored)
        return cls(optional=True, key=rule, function=function, ignored=paths)

    @property
    def only_one(self) -> bool:
        return self.key is None

    def names(self, value: str | None) -> tuple[str, ...]:
        return tuple(self.contents(value))

    def contents(self, value: str | None) -> dict[str, str]:
        """Return effect key → content; raise `BadRule` if the function fails or a key is not
        unique.
        """
        assert self.function is not None
        returned = call(self.function, value)
        each = returned if isinstance(returned, list | tuple) else [returned]
        if returned is None:
            each = []
        if self.key is None and len(each) > 1:
            raise BadRule(
                f"{self.function} returned {len(each)} contents; expected --effect-key, the rule "
                "that tells the effects of one input apart"
            )
        found: dict[str, str] = {}
        for content in each:
            name = self._name(content)
            if name in found:
                raise BadRule(f"{self.function} returned two contents with the key {name!r}")
            found[name] = as_text(content, self.ignored)
        return found

    def digest(self, written: Written) -> str:
        return as_text(written.value, self.ignored)

    def named(self, effects: Iterable[Effect]) -> list[Effect]:
        found = list(effects)
        return [replace(e, effect_key="") for e in found] if self.only_one else found

    def _name(self, content: Any) -> str:
        if self.key is None:
            return ""
        text = content if isinstance(content, str) else json.dumps(content, default=str)
        name = self.key.find(Written(value=text))
        if name is None:
            raise BadRule(f"{self.function} returned a content without {self.key}: {text[:120]}")
        return name


def as_text(content: Any, ignored: Iterable[str]) -> str:
    """Return a content in canonical JSON, without the fields at `ignored` paths."""
    if isinstance(content, str):
        try:
            content = json.loads(content, parse_float=_number)
        except ValueError:
            content = _plain(content)
    else:
        content = _plain(content)
    for path in ignored:
        _drop(content, path.removeprefix("$.").split("."))
    text = _encode(content)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… {digest(text)}"


def functions(
    expects: Sequence[str], sinks: Sequence[str], option: str = "--expect"
) -> tuple[tuple[str, str], ...]:
    """Return pairs of output and function; the option's value is `[SINK=]FILE.py:FUNCTION`.

    Raises:
        BadRule: a function or output does not exist, or an output has no function, or two.
    """
    found = by_name(option, expects, sinks, thing="outputs")
    if expects and (lacking := [name for name in sinks if name not in found]):
        raise BadRule(f"no {option} for output {lacking[0]}; expected one for each output")
    return tuple(found.items())


def path_of(rule: str) -> str:
    """Return the path of a field to ignore; raise `BadRule` if the rule is not such a path."""
    found = Rule.parse(rule)
    if found.kind != "json" or "[" in found.argument:
        raise BadRule(f"invalid --ignore {rule!r}: expected json:$.FIELD")
    return found.argument


def _number(text: str) -> int | float:
    """Parse a number with a point or an exponent, normalized as `_plain` does."""
    value = float(text)
    return int(value) if value.is_integer() else value


def _plain(content: Any) -> Any:
    """Convert to JSON types, with whole floats as integers."""
    kind = type(content)
    if kind in _PLAIN:  # the common case: isinstance() with an abstract class is slow
        return content
    if kind is dict or isinstance(content, Mapping):
        return {str(name): _plain(value) for name, value in content.items()}
    if isinstance(content, list | tuple):
        return [_plain(value) for value in content]
    if isinstance(content, float) and content.is_integer():
        return int(content)
    return content if isinstance(content, str | int | float | None) else str(content)


def _drop(content: Any, path: Sequence[str]) -> None:
    *before, last = path
    for name in before:
        content = content.get(name) if isinstance(content, dict) else None
    if isinstance(content, dict):
        content.pop(last, None)
