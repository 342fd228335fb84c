"""Derive the settings from the options of the commands; they have the same names.

Options for a single call are not settings: a file must not confirm every question in advance.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from copy import copy
from pathlib import Path
from typing import Any, Final

from typer.core import TyperGroup, TyperOption

from onceproof.settings.kinds import Parameter, is_list, is_path

SHARED: Final = {
    "out": "Folder for the run folders, for every command that creates some.",
    "backend": "Where brokers run, for every command that starts them: local, local-secured, "
    "docker or external:FILE.",
    "seed": "Workload seed, for every command that has one.",
}
"""Settings at the top level, for every command that has them."""
_NOT_SHARED: Final = {("matrix", "backend"), ("replay", "backend")}
"""A matrix uses both backends, and a replay that of its run."""
_ARGUMENTS: Final = {("run", "scenario"), ("soak", "scenario"), ("verify", "command")}
"""Arguments that are the same for every call in a project."""
_PER_CALL: Final = {
    "check": {"unsealed"},
    "clean": {"yes", "downloads"},
    "config show": {"as_json"},
    "end": {"judge", "lab"},
    "explore": {"cases", "merge", "only", "shard"},
    "fault": {"lab"},
    "heal": {"lab"},
    "lab": {"bare", "for_program", "topic"},
    "shell": {"command"},
    "status": {"lab", "watch", "as_json"},
    "verify": {"cases", "dry_run", "explore", "only", "reuse_dry_run", "time_limit", "trials"},
}

Known = Mapping[str, Mapping[str, Parameter]]
"""Command → key → its option or argument; `envvar` has its environment variables."""


def variable(*words: str) -> str:
    """Return the environment variable of a setting: of a command and a key, or of a shared key."""
    return "_".join(("onceproof", *words)).upper().replace("-", "_")


def is_shared(command: str, key: str) -> bool:
    """Whether the setting is also allowed at the top level, for all commands."""
    return key in SHARED and (command, key) not in _NOT_SHARED


def known(group: TyperGroup) -> Known:
    """Return every setting of every command, and make its option read the environment."""
    found = {
        name: {
            key: _reading_environment(name, key, parameter)
            for parameter in command.params
            if (key := _key(name, parameter)) is not None
        }
        for name, command in group.commands.items()
        if not isinstance(command, TyperGroup)
    }
    return {command: settings for command, settings in found.items() if settings}


def _reading_environment(command: str, key: str, parameter: Any) -> Any:
    """Set the variables of an option; click alone would split quoted items, and not expand `~`."""
    shared = [variable(key)] if is_shared(command, key) else []
    parameter.envvar, parameter.show_envvar = [variable(command, key), *shared], False
    if is_list(parameter):
        parameter.type = copy(parameter.type)
        parameter.type.split_envvar_value = shlex.split
    if is_path(parameter):
        parameter.callback = lambda _ctx, _parameter, value: value and Path(value).expanduser()
    return parameter


def _key(command: str, parameter: Any) -> str | None:
    if parameter.name in _PER_CALL.get(command, ()):
        return None
    if isinstance(parameter, TyperOption):
        return max(parameter.opts, key=len).removeprefix("--")
    name = str(parameter.name)
    return name if (command, name) in _ARGUMENTS else None
