"""Finding the file with the settings: `onceproof.toml`, or `pyproject.toml` with a table of ours.

It is looked for from the current folder upwards, and not beyond a
repository's root or the home folder, so that a file of somebody else is never taken for ours.
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
"""What lies in the root of a repository."""


@dataclass(frozen=True, kw_only=True)
class SettingsFile:
    """A file with settings.

    Attributes:
        prefix: before each key, in error messages: `tool.onceproof.`, or nothing.
        content: as TOML has it.
    """

    path: Path
    prefix: str
    content: Mapping[str, Any]

    def where(self, key: str) -> str:
        """A key of it, for people."""
        return f"{self.path}: {self.prefix}{key}"


def find(folder: Path, home: Path | None = None) -> SettingsFile | None:
    """The nearest file with settings, from a folder upwards; None if there is none.

    Raises:
        BadSettings: it cannot be read, is not TOML, or is somebody else's.
    """
    here = folder.absolute()
    for place in _upwards(here, Path.home() if home is None else home):
        for file in (place / OWN, place / PROJECT):
            if file.is_file() and (file.name == OWN or _has_table(file)):
                if place != here:
                    _see_whose(file)
                return load(file)
    return None


def _has_table(file: Path) -> bool:
    return "onceproof" in _read(file).get("tool", {})


def _see_whose(file: Path) -> None:
    """Refuse a file that was not looked for here and that another user can write: it is run."""
    owners = {file.lstat().st_uid, file.stat().st_uid, file.parent.stat().st_uid}
    if strangers := owners - {0, os.geteuid()}:
        raise BadSettings(
            f"{file} was found from {Path.cwd()}, and it or its folder belongs to another user "
            f"(uid {min(strangers)}). Its command would run as you. To use it: "
            f"--config {shlex.quote(str(file))}; to ignore it: --config none."
        )


def load(path: Path) -> SettingsFile:
    """A file with settings: of a `pyproject.toml` its table, else all of it.

    Raises:
        BadSettings: it cannot be read, or is not TOML.
    """
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
            f"{path} cannot be read: {error.strerror or error}. Fix that, or ignore the file: "
            "--config none."
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadSettings(
            f"{path} is not TOML: {error}. Fix it, or ignore the file: --config none."
        ) from None
