"""Rebuild the options of a command, for a command line that repeats it."""

from __future__ import annotations

from collections.abc import Collection

import typer
from typer.core import TyperOption


def given(ctx: typer.Context, *, without: Collection[str] = ()) -> list[str]:
    """Return options that were set (command line, environment, file), except those in `without`."""
    words: list[str] = []
    for option in ctx.command.params:
        name = option.name
        if name is None or name in without or not isinstance(option, TyperOption):
            continue
        source = ctx.get_parameter_source(name)
        if source is None or source.name == "DEFAULT":
            continue
        value, switch = ctx.params[name], max(option.opts, key=len)
        if option.is_flag:
            words += [switch] if value else list(option.secondary_opts[:1])
        else:
            values = value if option.multiple else [value]
            words += [word for each in values for word in (switch, str(each))]
    return words
