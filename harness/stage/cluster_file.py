"""The file that describes a user's own cluster: addresses, commands, connection settings."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from onceproof.harness.kafka.connecting.properties import (
    BadProperties,
    check_private,
    fitting,
    flat,
    from_environment,
    known,
    read,
)
from onceproof.harness.tools.error import SetupError

UNDONE_BY: Final = {"kill": "restart", "stop": "restart", "pause": "resume", "cut": "mend"}
"""Commands, and the command that undoes each; faults need both."""
_KEYS: Final = frozenset(
    {"bootstrap", "database", "commands", "values", "kafka", "kafka-properties"}
)
_WORDS: Final = frozenset({"node", "id", "source"})
"""Placeholders in commands that are no values of the file."""
COMMANDS: Final = frozenset({*UNDONE_BY, *UNDONE_BY.values()})


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """A cluster's file.

    Attributes:
        values: placeholder → value, for its commands; they may be secret.
        properties: connection settings by librdkafka's names; empty for plain text.
    """

    bootstrap: str
    database: str
    commands: dict[str, str]
    properties: Mapping[str, str] = field(default_factory=dict, repr=False)
    values: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def offers(self) -> frozenset[str]:
        """What can be done to it: `kill`, `cut`."""
        return frozenset(
            what for what, undo in UNDONE_BY.items() if {what, undo} <= self.commands.keys()
        )

    @classmethod
    def load(cls, path: Path, environment: Mapping[str, str] = os.environ) -> Cluster:
        """Read a cluster's file; connection settings in the environment take precedence.

        Raises:
            SetupError: it cannot be read, or is invalid.
        """
        try:
            found = tomllib.loads(path.read_text())
        except OSError as error:
            raise SetupError(
                f"{path} cannot be read: {error.strerror}. Expected a TOML file that describes "
                "your cluster: bootstrap, database, commands."
            ) from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise SetupError(f"{path} is not TOML: {error}. Correct it, then try again.") from None
        commands = found.get("commands", {})
        odd = (found.keys() - _KEYS) | (
            commands.keys() - COMMANDS if isinstance(commands, dict) else {"commands"}
        )
        if odd:
            raise SetupError(
                f"{path}: invalid {', '.join(sorted(odd))}: expected only bootstrap, database, "
                "kafka-properties, a table kafka, a table values, and a table commands with "
                f"{', '.join(sorted(COMMANDS))}."
            )
        own = found.get("values", {})
        if not isinstance(own, dict) or own.keys() & _WORDS:
            raise SetupError(
                f"{path}: values: expected a table of strings without "
                f"{', '.join(sorted(_WORDS))}, which each command has by itself."
            )
        values = {"bootstrap": found.get("bootstrap"), "database": found.get("database", "")}
        for name, value in (*values.items(), *commands.items(), *own.items()):
            if not isinstance(value, str) or (name == "bootstrap" and not value):
                raise SetupError(f'{path}: {name}: expected a string, such as {name} = "…"')
        try:
            properties = _properties(path, found, environment)
        except BadProperties as error:
            raise SetupError(f"{path}: {error}") from None
        return cls(
            bootstrap=values["bootstrap"],
            database=values["database"],
            commands=commands,
            values=own,
            properties=properties,
        )


def filled(text: str, values: Mapping[str, str]) -> str:
    """Replace placeholders by values; a value may have those of later values."""
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def _properties(
    path: Path, found: Mapping[str, Any], environment: Mapping[str, str]
) -> dict[str, str]:
    """Merge connection settings: the file's table or the file it names, then the environment."""
    named, table = found.get("kafka-properties"), found.get("kafka", {})
    if not isinstance(table, dict) or not isinstance(named, str | None):
        raise BadProperties('expected kafka-properties = "FILE", or a table [kafka]')
    if named is not None and table:
        raise BadProperties("expected either kafka-properties or [kafka], found both")
    given = flat(table)
    check_private(path, given)
    folder = path.parent
    if named is not None:
        given, folder = read(path.parent / named), (path.parent / named).parent
    more = known(from_environment(environment), folder=Path.cwd())
    return fitting(known(given, folder=folder) | more)
