"""`onceproof config show` and `onceproof config schema`, and loading settings for every command."""

from __future__ import annotations

import sys
from typing import Annotated, NoReturn

import typer
from typer.core import TyperGroup

config = typer.Typer(
    no_args_is_help=True,
    help="Show the settings in effect, and the schema of a settings file.",
)

Named = Annotated[
    str | None,
    typer.Option(
        "--config",
        metavar="FILE",
        envvar="ONCEPROOF_CONFIG",
        help="Settings file (default: the nearest onceproof.toml or pyproject.toml); «none» "
        "ignores files and environment.",
    ),
]


def _print_version(asked: bool) -> None:
    if not asked:
        return
    from onceproof.harness.tools.versions import versions

    found = versions()
    print(f"onceproof {found.pop('onceproof')}")
    for part, version in found.items():
        print(f"  {part} {version}")
    raise typer.Exit


Version = Annotated[
    bool,
    typer.Option(
        "--version",
        is_eager=True,
        callback=_print_version,
        help="Print the version and those of the libraries; `doctor` prints those of the tools.",
    ),
]


def before(ctx: typer.Context, config: Named = None, version: Version = False) -> None:
    """Read the settings and make them the defaults of the command."""
    from onceproof.settings.bad import BadSettings
    from onceproof.settings.effective import load_settings
    from onceproof.settings.known import known

    ctx.obj, group = config, _all_commands(ctx)
    # An invalid file must not break help, or commands without settings.
    if ctx.invoked_subcommand not in known(group) or "--help" in _before_dashes(sys.argv):
        return
    try:
        ctx.obj = load_settings(group, config)
    except BadSettings as error:
        _refuse(error)
    ctx.default_map = ctx.obj.default_map


@config.command()
def show(
    ctx: typer.Context,
    command: Annotated[
        list[str] | None, typer.Argument(help="Show only the settings of these commands.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show each setting, its value and where the value comes from.

    Exit code: 0; 2 a file or an environment variable is invalid.
    """
    from onceproof.commands import config as commands
    from onceproof.settings.bad import BadSettings
    from onceproof.settings.effective import load_settings

    try:
        settings = load_settings(_all_commands(ctx), ctx.obj)
    except BadSettings as error:
        _refuse(error)
    sys.exit(commands.show(settings, command or [], as_json=as_json))


@config.command()
def schema(ctx: typer.Context) -> None:
    """Print the JSON Schema of a settings file."""
    from onceproof.commands import config as commands
    from onceproof.settings.known import known

    sys.exit(commands.print_schema(known(_all_commands(ctx))))


def _all_commands(ctx: typer.Context) -> TyperGroup:
    group = ctx.find_root().command
    assert isinstance(group, TyperGroup)
    return group


def _before_dashes(words: list[str]) -> list[str]:
    return words[: words.index("--")] if "--" in words else words


def _refuse(error: Exception) -> NoReturn:
    print(f"onceproof: {error}", file=sys.stderr)
    sys.exit(2)
