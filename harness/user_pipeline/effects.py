"""How many effects an input must have, and how they are told apart.

If an input has several effects, each needs a key; otherwise a duplicate of one would hide the loss
of another. The key is found by a rule. Without a rule, it is the effect's rank among the different
contents of its input, which detects duplicates only if a pipeline that repeats itself writes the
same contents again.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from onceproof.harness.sinks.base import Effect
from onceproof.harness.tools.python_file import BadPythonFile, import_file
from onceproof.harness.user_pipeline.identity import BadRule, Rule, Written

NOT_JUDGED: Final = "content is not judged"
"""Digest of all effects, expected and observed, if no expected content is known."""

_COUNT = re.compile(r"(?:(0)\.\.)?([1-9][0-9]{0,3})")
FUNCTION: Final = re.compile(r"(.+\.py):([A-Za-z_]\w*)")
"""Syntax of a reference to a user's function."""


@dataclass(frozen=True, kw_only=True)
class ExpectedEffects:
    """The effects of each input in one output.

    Attributes:
        most: number of effects; ignored if there is a function.
        optional: whether an input may have none.
        key: rule that tells several effects apart; None: by content.
        function: `FILE.py:NAME` of a function that takes an input as parsed JSON, or else as text
            (None for a null value), and returns the number of its effects, or their keys, which
            `key` finds in the output.
    """

    most: int = 1
    optional: bool = False
    key: Rule | None = None
    function: str | None = None

    @classmethod
    def parse(cls, text: str, *, key: str | None = None) -> ExpectedEffects:
        """Parse `1`, `0..1`, `3` or `rules.py:effects`; raise `BadRule` for anything else."""
        rule = None if key is None else Rule.parse(key)
        if FUNCTION.fullmatch(text):
            function_of(text)
            return cls(optional=True, key=rule, function=text)
        found = _COUNT.fullmatch(text)
        if found is None:
            raise BadRule(
                f"invalid number of effects {text!r}: expected a number such as 1 or 3, a range "
                "such as 0..1, or FILE.py:FUNCTION"
            )
        return cls(most=int(found[2]), optional=bool(found[1]), key=rule)

    def __str__(self) -> str:
        return self.function or (f"0..{self.most}" if self.optional else str(self.most))

    @property
    def may_lack(self) -> bool:
        """Whether a lost effect cannot be distinguished from one that was never due."""
        return self.optional and self.function is None

    @property
    def only_one(self) -> bool:
        """Whether no input has more than one effect; then effects need no key."""
        return self.most == 1 and self.function is None

    def names(self, value: str | None) -> tuple[str, ...]:
        """Return an input's effect keys; raise `BadRule` for a function that returns something
        else.
        """
        if self.only_one:
            return ("",)
        if self.function is None:
            return _numbers(self.most)
        result = call(self.function, value)
        if isinstance(result, int) and not isinstance(result, bool) and result >= 0:
            if result and self.key is not None:
                raise BadRule(
                    f"{self.function} returned {result}, but --effect-key is given; expected a "
                    f"list of the effect keys that {self.key} finds, or no --effect-key"
                )
            return _numbers(result)
        if isinstance(result, Sequence) and not isinstance(result, str):
            if self.key is None:
                raise BadRule(
                    f"{self.function} returned a list of effect keys; expected --effect-key, "
                    "the rule that finds an effect key in the output"
                )
            return tuple(str(name) for name in result)
        raise BadRule(
            f"{self.function} returned {result!r}; expected a count ≥ 0, or a list of effect keys"
        )

    def contents(self, value: str | None) -> dict[str, str]:
        """Return effect key → content for each effect of an input; raises as `names` does."""
        return dict.fromkeys(self.names(value), NOT_JUDGED)

    def digest(self, written: Written) -> str:
        return NOT_JUDGED

    def named(self, effects: Iterable[Effect]) -> list[Effect]:
        """Return effects with their final effect keys.

        Without a rule, effects are numbered by their provisional keys, shortest first; duplicates
        share a number.
        """
        found = list(effects)
        if self.only_one:
            return [replace(effect, effect_key="") for effect in found]
        if self.function is not None and self.key is not None:
            return found
        keys: dict[tuple[str, str, str | None], set[str]] = defaultdict(set)
        for effect in found:
            keys[effect.sink, effect.view, effect.record].add(effect.effect_key)
        places = {
            (*of, key): str(place)
            for of, each in keys.items()
            for place, key in enumerate(sorted(each, key=_by_size), 1)
        }
        return [
            replace(e, effect_key=places[e.sink, e.view, e.record, e.effect_key]) for e in found
        ]


def _numbers(most: int) -> tuple[str, ...]:
    return tuple(str(n) for n in range(1, most + 1))


def _by_size(key: str) -> tuple[int, str]:
    return len(key), key


def call(function: str, value: str | None) -> Any:
    """Call a user's function with one input; raise `BadRule` if it fails."""
    return _call(function, _parse(value), repr((value or "")[:120]))


def call_with_all(function: str, values: Iterable[str | None]) -> Any:
    """Call a user's function with a list of inputs; raise `BadRule` if it fails."""
    inputs = [_parse(value) for value in values]
    return _call(
        function, inputs, f"a list of {len(inputs)} inputs that starts with {str(inputs[:1])[:120]}"
    )


def _call(function: str, argument: Any, shown: str) -> Any:
    try:
        return function_of(function)(argument)
    except Exception as error:
        raise BadRule(f"{function} raised {type(error).__name__}: {error} for {shown}") from error


def _parse(value: str | None) -> Any:
    """Return parsed JSON, or the text itself if it is not JSON."""
    if value is None:
        return None
    try:
        return json.loads(value)
    except ValueError:
        return value


@cache
def function_of(text: str) -> Callable[[Any], Any]:
    """Import the function that a reference names; raise `BadRule` if it does not exist."""
    found = FUNCTION.fullmatch(text)
    assert found is not None, "references are checked before they are used"
    path, name = Path(found[1]), found[2]
    try:
        function = getattr(import_file(path), name, None)
    except BadPythonFile as error:
        raise BadRule(str(error)) from error
    if not callable(function):
        raise BadRule(f"{path} has no function {name}")
    return function  # type: ignore[no-any-return]
