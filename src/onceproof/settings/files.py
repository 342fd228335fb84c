"""Find the settings file: `onceproof.toml`, or `pyproject.toml` with a table `tool.onceproof`.

The search goes upwards from the current folder and stops at a repository's root or the home folder,
so that another user's file is not used by accident.
"""

from __future__ import annotations

import os
import shlex
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from onceproof.settings.bad import BadSettings

OWN: Final = "onceproof.toml"
PROJECT: Final = "pyproject.toml"
TABLE: Final = "tool.onceproof"
_ROOTS: Final = (".git", ".hg", ".svn", ".jj")
"""Entries that mark the root of a repository."""


@dataclass(frozen=True, kw_only=True)
class SettingsFile:
    """A settings file; `prefix` (`tool.onceproof.`, or empty) precedes each key in messages."""

    path: Path
    prefix: str
    content: Mapping[str, Any]

    def where(self, key: str) -> str:
        """Return the location of a key, for messages."""
        return f"{self.path}: {self.prefix}{key}"


def find(folder: Path, home: Path | None = None) -> SettingsFile | None:
    """Return the nearest settings file, from a folder upwards; None if there is none.

    Raises:
        BadSettings: it cannot be read, is not TOML, or belongs to another user.
    """
    here = folder.absolute()
    for place in _upwards(here, Path.home() if home is None else home):
        for file in (place / OWN, place / PROJECT):
            if file.is_file() and (file.name == OWN or _has_table(file)):
                if place != here:
                    _check_owner(file)
                return load(file)
    return None


def _has_table(file: Path) -> bool:
    return "onceproof" in _read(file).get("tool", {})


def _check_owner(file: Path) -> None:
    """Reject a file in a parent folder that another user can write: its command would be run."""
    owners = {file.lstat().st_uid, file.stat().st_uid, file.parent.stat().st_uid}
    if strangers := owners - {0, os.geteuid()}:
        raise BadSettings(
            f"{file} was found from {Path.cwd()}, and it or its folder belongs to another user "
            f"(uid {min(strangers)}). Its command would run as you. To use it: "
            f"--config {shlex.quote(str(file))}; to ignore it: --config none."
        )


def load(path: Path) -> SettingsFile:
    """Load a file, or a table of `pyproject.toml`; raise `BadSettings` if it cannot be read."""
    content, prefix = _read(path), ""
    if path.name == PROJECT:
        content, prefix = content.get("tool", {}).get("onceproof", {}), f"{TABLE}."
        if not isinstance(content, dict):
            raise BadSettings(f"{path}: {TABLE}: expected a table, found {content!r}.")
    return SettingsFile(path=path, prefix=prefix, content=content)


def _upwards(folder: Path, home: Path) -> Iterator[Path]:
    for place in (folder, *folder.parents):
        yield place
        if place == home or any((place / name).exists() for name in _ROOTS):
            return


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadSettings(
            f"{path} cannot be read: {error.strerror or error}. Make it readable, or ignore it: "
            "--config none."
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadSettings(
            f"{path} is not valid TOML: {error}. Fix it, or ignore it: --config none."
        ) from None
