"""Options given once for all outputs or inputs, or once for each: `NAME=VALUE`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from onceproof.harness.user_pipeline.identity import BadRule


def values_by_name(
    option: str, texts: Iterable[str], names: Sequence[str], *, thing: str
) -> dict[str, str]:
    """Return name → value; raise `BadRule` if a name has two values.

    Text before "=" that is no name is part of a value for all. `thing` says what the names denote,
    such as `topics`.
    """
    return assigned(option, ((text, *_split(text, names)) for text in texts), names, thing=thing)


def assigned(
    option: str, given: Iterable[tuple[str, str, str]], names: Sequence[str], *, thing: str
) -> dict[str, str]:
    """Return name → value from triples of text, name (empty: all) and value."""
    found: dict[str, str] = {}
    for text, name, value in given:
        for each in [name] if name else names:
            if each in found:
                raise BadRule(
                    f"{option} {text}: {each} already has one; expected only one per {thing[:-1]}"
                )
            found[each] = value
    return found


def _split(text: str, names: Sequence[str]) -> tuple[str, str]:
    name, _, value = text.partition("=")
    return (name, value) if name in names else ("", text)
