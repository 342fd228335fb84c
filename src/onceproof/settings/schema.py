"""JSON Schema of a settings file."""

from __future__ import annotations

from typing import Any, Final

from onceproof.settings import kinds
from onceproof.settings.kinds import Parameter, help_of
from onceproof.settings.known import SHARED, Known, is_shared

IDENTITY: Final = "urn:onceproof-settings:1"


def schema(known: Known) -> dict[str, Any]:
    """Return the schema of `onceproof.toml`, or of `tool.onceproof` in `pyproject.toml`."""
    shared = {key: _shared(known, key) for key in SHARED}
    tables = {
        command: _closed(
            f"`onceproof {command}`.",
            {key: _described(option) for key, option in settings.items()},
        )
        for command, settings in known.items()
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": IDENTITY,
        "title": "Settings of onceproof",
        **_closed("Defaults of the options of its commands.", shared | tables),
    }


def _closed(says: str, properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "description": says,
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }


def _shared(known: Known, key: str) -> dict[str, Any]:
    """Describe a shared setting by the first command that has it; all define it alike."""
    option = next(s[key] for c, s in known.items() if key in s and is_shared(c, key))
    return {**kinds.schema(option), "description": SHARED[key]}


def _described(option: Parameter) -> dict[str, Any]:
    found = {**kinds.schema(option), "description": help_of(option)}
    plain = isinstance(option.default, bool | int | float | str)
    return {**found, "default": option.default} if plain else found
