"""Determine the value of each setting, and its source.

Click finds the value: on the command line, in the environment, in its `default_map`, or built in.
This module makes the `default_map` from the file. It also checks what click would not: unknown
keys, TOML types, and the settings of commands that do not run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import typer
from typer.core import TyperGroup

from onceproof.settings.bad import BadSettings, hint
from onceproof.settings.files import SettingsFile, find, load
from onceproof.settings.kinds import Parameter, expected, has_type, is_list, is_path, parser_of
from onceproof.settings.known import SHARED, Known, is_shared, known

BUILT_IN: Final = "built in"
NONE: Final = "none"
"""Instead of a file: use neither file nor environment, as commands started by onceproof do."""


@dataclass(frozen=True, kw_only=True)
class Value:
    """A setting's value and its source."""

    value: Any
    origin: str


@dataclass(frozen=True, kw_only=True)
class Effective:
    """The values of all settings.

    Attributes:
        values: command → key → value.
        default_map: command → parameter → value from the file, in click's form.
        file: the settings file, if there is one.
    """

    values: Mapping[str, Mapping[str, Value]]
    default_map: dict[str, Any]
    file: Path | None


def load_settings(group: TyperGroup, named: str | None) -> Effective:
    """Return the settings of a named file, of none («none»), or of the nearest file (None).

    Raises:
        BadSettings: a file or a variable is invalid; the message says what and where.
    """
    if named == NONE:
        return effective(group, None)
    if named is not None and not Path(named).is_file():
        raise BadSettings(
            f"{named} does not exist, or is not a file. Give a settings file, or «none» to ignore "
            "settings."
        )
    file = find(Path.cwd()) if named is None else load(Path(named).absolute())
    return effective(group, file, environment=True)


def effective(
    group: TyperGroup, file: SettingsFile | None, *, environment: bool = False
) -> Effective:
    """Determine every value; raise `BadSettings` for an unknown key or an invalid value."""
    there = known(group)
    contexts = {name: typer.Context(group.commands[name], default_map={}) for name in there}
    origins: dict[tuple[str, str], str] = {}
    if file is not None:
        for command, key, where, content in _of_file(there, file):
            option, ctx = there[command][key], contexts[command]
            assert ctx.default_map is not None
            ctx.default_map[str(option.name)] = _checked(option, ctx, content, where, file)
            origins[command, key] = where
    values: dict[str, dict[str, Value]] = {}
    for command, settings in there.items():
        values[command] = {}
        for key, option in settings.items():
            if not environment:
                option.envvar = None
            origin = origins.get((command, key), BUILT_IN)
            values[command][key] = _value(option, contexts[command], origin)
    path = None if file is None else file.path
    default_map = {name: ctx.default_map for name, ctx in contexts.items()}
    return Effective(values=values, default_map=default_map, file=path)


def _of_file(there: Known, file: SettingsFile) -> Iterator[tuple[str, str, str, object]]:
    """Yield command, key, location and value from the file; settings of one command come last."""
    for name, content in file.content.items():
        table = isinstance(content, dict)
        if name in there and not table:
            raise BadSettings(
                f"{file.where(name)}: expected a table, as in [{file.prefix}{name}], "
                f"found {_shown(content)}."
            )
        if name not in there and name not in SHARED:
            raise BadSettings(
                f"{file.where(name)}: there is no such "
                f"{'table' if table else 'setting for all commands'}. "
                f"{hint(name, there if table else SHARED)}"
            )
    for command, settings in there.items():
        for key in (each for each in file.content if each in settings):
            if is_shared(command, key):
                yield command, key, file.where(key), file.content[key]
        for key, content in file.content.get(command, {}).items():
            where = file.where(f"{command}.{key}")
            if key not in settings:
                near = hint(f"{command}.{key}", [f"{command}.{each}" for each in settings])
                raise BadSettings(f"{where}: there is no such setting. {near}")
            yield command, key, where, content


def _checked(
    option: Parameter, ctx: typer.Context, content: object, where: str, file: SettingsFile
) -> Any:
    try:
        if not has_type(option, content):
            raise ValueError
        option.type_cast_value(ctx, content)
    except (ValueError, typer.BadParameter):
        raise BadSettings(
            f"{where}: expected {expected(option)}, found {_shown(content)}."
        ) from None
    return str(file.path.parent / Path(str(content)).expanduser()) if is_path(option) else content


def _value(option: Parameter, ctx: typer.Context, origin: str) -> Value:
    variable = next((each for each in option.envvar or () if os.environ.get(each)), None)
    try:
        value, _ = option.consume_value(ctx, {})
        if variable is None:
            return Value(value=value, origin=origin)
        read = option.process_value(ctx, value)
    except (ValueError, typer.BadParameter):
        raise BadSettings(
            f"environment variable {variable}: expected {expected(option)}, "
            f"found {os.environ[str(variable)]!r}."
        ) from None
    if is_path(option):
        value = str(Path.cwd() / read)
    elif not is_list(option) and parser_of(option) is None:
        value = read
    return Value(value=value, origin=variable)


def _shown(value: object) -> str:
    """Format a value approximately as TOML does."""
    if isinstance(value, bool):
        return str(value).lower()
    return "a table" if isinstance(value, dict) else repr(value).replace("'", '"')
