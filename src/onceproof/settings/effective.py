"""Which value each setting has, and where it comes from.

The nearest to the user wins: the command line, then the environment, then
the file, then what is built in. Of two in the same place, that of the command alone wins over that
of all commands. The command line is click's business; the others reach it as defaults.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from onceproof.settings.bad import BadSettings, hint
from onceproof.settings.files import SettingsFile
from onceproof.settings.known import SHARED, Known, Setting, shared_variable

BUILT_IN: Final = "built in"


@dataclass(frozen=True, kw_only=True)
class Value:
    """What a setting is, and who said so."""

    value: Any
    origin: str


@dataclass(frozen=True, kw_only=True)
class Effective:
    """The value of every setting.

    Attributes:
        values: command → key → value.
        file: where the file lies that was read, if one was.
    """

    known: Known
    values: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    file: Path | None = None

    def defaults(self, command: str) -> dict[str, Any]:
        """What a command is told: the values that somebody has set, by parameter."""
        settings = self.known.get(command, {})
        return {
            settings[key].parameter: found.value
            for key, found in self.values.get(command, {}).items()
            if found.origin != BUILT_IN
        }


def effective(
    known: Known, file: SettingsFile | None, environ: Mapping[str, str], folder: Path
) -> Effective:
    """Work it out.

    Args:
        known: which settings there are.
        file: the file that was found, if any.
        environ: the environment.
        folder: relative paths in the environment are meant from there; those in a file are meant
            from the file's folder.

    Raises:
        BadSettings: a key is not known, or a value is none that its option takes.
    """
    from_file = {} if file is None else _of_file(known, file)
    from_environment = _of_environment(known, environ, folder)
    values = {
        command: {
            key: from_environment.get((command, key))
            or from_file.get((command, key))
            or Value(value=setting.built_in, origin=BUILT_IN)
            for key, setting in settings.items()
        }
        for command, settings in known.items()
    }
    return Effective(known=known, values=values, file=None if file is None else file.path)


def _of_file(known: Known, file: SettingsFile) -> dict[tuple[str, str], Value]:
    found: dict[tuple[str, str], Value] = {}
    own: dict[tuple[str, str], Value] = {}
    for name, content in file.content.items():
        if name in SHARED:
            for command, settings in known.items():
                if name in settings and settings[name].shared:
                    found[command, name] = _value(settings[name], content, file, name)
        elif name in known:
            if not isinstance(content, dict):
                raise BadSettings(
                    f"{file.where(name)}: expected a table, as in [{file.prefix}{name}], "
                    f"found {_shown(content)}."
                )
            for key, value in content.items():
                if key not in known[name]:
                    there = [f"{name}.{other}" for other in known[name]]
                    raise BadSettings(
                        f"{file.where(f'{name}.{key}')}: there is no such setting. "
                        f"{hint(f'{name}.{key}', there)}"
                    )
                own[name, key] = _value(known[name][key], value, file, f"{name}.{key}")
        else:
            what = "table" if isinstance(content, dict) else "setting for all commands"
            there = list(known if isinstance(content, dict) else SHARED)
            raise BadSettings(f"{file.where(name)}: there is no such {what}. {hint(name, there)}")
    return found | own


def _value(setting: Setting, value: object, file: SettingsFile, key: str) -> Value:
    checked = _checked(setting, value, file.path.parent, file.where(key), _shown(value))
    return Value(value=checked, origin=file.where(key))


def _of_environment(
    known: Known, environ: Mapping[str, str], folder: Path
) -> dict[tuple[str, str], Value]:
    found: dict[tuple[str, str], Value] = {}
    for command, settings in known.items():
        for key, setting in settings.items():
            variables = [setting.variable, *([shared_variable(key)] if setting.shared else [])]
            # Empty is how a shell unsets for one command.
            variable = next((name for name in variables if environ.get(name)), None)
            if variable is not None:
                text = environ[variable]
                where = f"environment variable {variable}"
                checked = _checked(setting, setting.kind.read(text), folder, where, repr(text))
                found[command, key] = Value(value=checked, origin=variable)
    return found


def _checked(setting: Setting, value: object, folder: Path, where: str, shown: str) -> Any:
    try:
        return setting.kind.checked(value, folder)
    except ValueError as error:
        why = f" ({error})" if str(error) else ""
        raise BadSettings(
            f"{where}: expected {setting.kind.expected}, found {shown}{why}."
        ) from None


def _shown(value: object) -> str:
    """A value as TOML writes it, near enough."""
    if isinstance(value, bool):
        return str(value).lower()
    return "a table" if isinstance(value, dict) else repr(value).replace("'", '"')
