"""Placeholders in a user's command, such as `{bootstrap}`, and their values in a run."""

from __future__ import annotations

import re
from collections.abc import Mapping

from onceproof.harness.user_pipeline.identity import BadRule

_WORD = re.compile(r"\{([a-z_]+|input:[A-Za-z0-9._-]+)\}")


def fill(text: str, meanings: Mapping[str, str]) -> str:
    """Replace placeholders, but no other braces; raise `BadRule` for an unknown one."""

    def meaning(found: re.Match[str]) -> str:
        try:
            return meanings[found[1]]
        except KeyError:
            known = ", ".join(f"{{{word}}}" for word in meanings)
            raise BadRule(f"unknown placeholder {found[0]} in {text!r}; expected {known}") from None

    return _WORD.sub(meaning, text)


def input_word(topic: str) -> str:
    """Return the placeholder of one of several input topics."""
    return f"input:{topic}"


def words(text: str) -> set[str]:
    return set(_WORD.findall(text))
