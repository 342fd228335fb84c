"""Generate the reference page of all commands: `python -m onceproof.commands_page`."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from typing import Any, Final

import typer
from typer.core import TyperArgument, TyperGroup, TyperOption

from onceproof.settings.kinds import expected, help_of

_HEAD: Final = """\
<!-- Made by `make reference`; do not edit. -->

# Commands

`onceproof COMMAND --help` prints the same. Results go to standard output, progress and errors to
standard error; an error is one line that says what to do next. Defaults can be set in
[files and the environment](settings.md). Programs can read [events](events.md).
`onceproof --install-completion` installs shell completion.
"""


def page(group: TyperGroup) -> str:
    parts = [_HEAD]
    for name, command in _commands(group, "onceproof"):
        parts.append(f"\n## {name}\n\n{_help(command)}\n")
        for title, kind in (("argument", TyperArgument), ("option", TyperOption)):
            rows = [_row(p) for p in command.params if isinstance(p, kind) and p.name != "help"]
            if rows:
                parts.append(f"\n| {title} | value | default | meaning |\n")
                parts.append("| --- | --- | --- | --- |\n" + "".join(rows))
    return "".join(parts)


def _commands(group: TyperGroup, before: str) -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            yield from _commands(command, f"{before} {name}")
        else:
            yield f"{before} {name}", command


def _help(command: Any) -> str:
    return inspect.cleandoc(command.help or "")


def _row(parameter: TyperOption | TyperArgument) -> str:
    names = (
        [*parameter.opts, *parameter.secondary_opts]
        if isinstance(parameter, TyperOption)
        else [parameter.metavar or (parameter.name or "").upper()]
    )
    takes = "" if getattr(parameter, "is_flag", False) else expected(parameter)
    default = parameter.default
    plain = default is not None and not isinstance(default, bool)
    without = f"`{default}`" if plain else "**required**" if parameter.required else ""
    says = " ".join(help_of(parameter).split())
    cells = (", ".join(f"`{name}`" for name in names), takes, without, says.replace("|", "\\|"))
    return f"| {' | '.join(cells)} |\n"


def all_commands() -> TyperGroup:
    from onceproof.cli import app

    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    return group


if __name__ == "__main__":
    sys.stdout.write(page(all_commands()))
