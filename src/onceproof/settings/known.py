"""Which settings there are: the options of the commands, by the names that they have there.

What asks for an act of this moment is no setting. Nobody wants a file that
says yes to everything that is ever asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from typer.core import TyperGroup, TyperOption

from onceproof.settings.kinds import Kind, Parameter

SHARED: Final = {
    "out": "Folder that gets the run folders, of every command that makes some.",
    "backend": "What the stage is made of, wherever one is made: local, docker or external:FILE.",
    "seed": "Draws the workload, of every command that draws one.",
}
"""Settings that may stand at the top, for every command that has them."""
_NOT_SHARED: Final = {("matrix", "backend"), ("replay", "backend")}
"""A matrix is of both; a replay is of what the run had."""
_ARGUMENTS: Final = {("run", "scenario"), ("soak", "scenario"), ("verify", "command")}
"""Arguments that a project has once and for all."""
_OF_THE_MOMENT: Final = {
    "check": {"unsealed"},
    "clean": {"yes", "downloads"},
    "config show": {"as_json"},
    "end": {"judge", "lab"},
    "fault": {"lab"},
    "heal": {"lab"},
    "lab": {"bare", "for_program", "topic"},
    "shell": {"command"},
    "status": {"lab", "watch", "as_json"},
    "verify": {"dry_run", "reuse_dry_run"},
}


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One setting of one command.

    Attributes:
        command: its table in a file.
        key: its name there, as the option has it.
        parameter: what the command calls it.
        says: what it means.
        kind: what it may be.
        built_in: its value where nobody says otherwise; None: the command finds out.
        shared: whether it may also stand at the top, for all commands.
    """

    command: str
    key: str
    parameter: str
    says: str
    kind: Kind
    built_in: Any
    shared: bool

    @property
    def variable(self) -> str:
        """The environment variable of this command alone."""
        return f"ONCEPROOF_{self.command}_{self.key}".upper().replace("-", "_")


Known = Mapping[str, Mapping[str, Setting]]
"""Command → key → setting."""


def shared_variable(key: str) -> str:
    """The environment variable of a setting that all commands share."""
    return f"ONCEPROOF_{key}".upper().replace("-", "_")


def known(group: TyperGroup) -> Known:
    """Every setting of every command that has some."""
    found = {
        name: {setting.key: setting for setting in _settings(name, command)}
        for name, command in group.commands.items()
        if not isinstance(command, TyperGroup)
    }
    return {command: settings for command, settings in found.items() if settings}


def _settings(name: str, command: Any) -> list[Setting]:
    return [
        Setting(
            command=name,
            key=key,
            parameter=parameter.name or key,
            says=getattr(parameter, "help", None) or "",
            kind=Kind.of(parameter),
            built_in=parameter.default,
            shared=key in SHARED and (name, key) not in _NOT_SHARED,
        )
        for parameter in command.params
        if (key := _key(name, parameter)) is not None
    ]


def _key(command: str, parameter: Parameter) -> str | None:
    """The name of a setting; None if it is none."""
    if parameter.name in _OF_THE_MOMENT.get(command, ()):
        return None
    if isinstance(parameter, TyperOption):
        return max(parameter.opts, key=len).removeprefix("--")
    name = parameter.name
    return name if (command, name) in _ARGUMENTS else None
