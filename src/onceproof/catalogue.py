"""Find scenarios: built-in ones, those of installed packages, and those in a user's file."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from onceproof.checkers.extensions import BadExtension, extensions
from onceproof.harness.schedule.scenario import Scenario
from onceproof.harness.tools.python_file import BadPythonFile, import_file
from onceproof.scenarios import all_scenarios, flagship


class UnknownScenario(LookupError):
    """No such scenario, or it cannot be loaded; the message suggests similar names."""


def known() -> list[Scenario]:
    """Return built-in scenarios, then those of packages; raise `UnknownScenario` if one is bad."""
    try:
        modules = extensions("scenarios")
    except BadExtension as error:
        raise UnknownScenario(str(error)) from error
    added = [scenario for module in modules for scenario in _in(module)]
    return [*all_scenarios(), *added]


def named(words: Sequence[str]) -> list[Scenario]:
    """Return the scenarios whose names contain one of these words; without words, all.

    Raises:
        UnknownScenario: no name contains a word; see also `known`.
    """
    found = known()
    for word in words:
        if not any(word in scenario.name for scenario in found):
            raise UnknownScenario(
                f"no scenario has «{word}» in its name. `onceproof list` lists all."
            )
    return [s for s in found if not words or any(word in s.name for word in words)]


def chosen(names: Sequence[str]) -> list[Scenario]:
    """Return scenarios by name or `FILE.py:NAME`; without names, the flagship.

    Raises:
        UnknownScenario: a name is not known, or the file cannot be imported; see also `known`.
    """
    return [_one(name) for name in names] if names else list(flagship())


def _one(name: str) -> Scenario:
    file, colon, inside = name.rpartition(":")
    if colon and file.endswith(".py"):
        return _from_file(Path(file), inside)
    found = {s.name: s for s in known()}
    if name not in found:
        near = difflib.get_close_matches(name, found, n=3, cutoff=0.4)
        hint = f"Did you mean {' or '.join(near)}?" if near else "`onceproof list` lists all."
        raise UnknownScenario(f"there is no scenario «{name}». {hint}")
    return found[name]


def _from_file(path: Path, name: str) -> Scenario:
    try:
        module = import_file(path)
    except BadPythonFile as error:
        raise UnknownScenario(str(error)) from error
    found = {scenario.name: scenario for scenario in _in(module)}
    found |= {key: value for key, value in vars(module).items() if isinstance(value, Scenario)}
    if name not in found:
        names = ", ".join(sorted(found)) or "none"
        raise UnknownScenario(
            f"{path} has no scenario «{name}»; found {names}. Give a variable that is a Scenario, "
            "or the name of one in SCENARIOS."
        )
    return replace(found[name], source=f"{path.resolve()}:{name}")


def _in(module: ModuleType) -> list[Scenario]:
    return [each for each in getattr(module, "SCENARIOS", ()) if isinstance(each, Scenario)]
