"""Finding scenarios by name."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from onceproof.harness.scenario import Scenario
from onceproof.scenarios import all_scenarios, flagship


class UnknownScenario(LookupError):
    """No scenario of that name; the text suggests what may have been meant."""


def named(words: Sequence[str]) -> list[Scenario]:
    """The scenarios whose names have one of these words in them; all without words.

    Raises:
        UnknownScenario: a word is in no name.
    """
    known = all_scenarios()
    for word in words:
        if not any(word in scenario.name for scenario in known):
            raise UnknownScenario(
                f"no scenario has «{word}» in its name. `onceproof list` names all."
            )
    return [s for s in known if not words or any(word in s.name for word in words)]


def chosen(names: Sequence[str]) -> list[Scenario]:
    """The scenarios of these names, or the flagship.

    Raises:
        UnknownScenario: a name is not known.
    """
    known = {s.name: s for s in all_scenarios()}
    if not names:
        return list(flagship())
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=3, cutoff=0.4)
            hint = f"Did you mean {' or '.join(near)}?" if near else "`onceproof list` names all."
            raise UnknownScenario(f"there is no scenario «{name}». {hint}")
    return [known[name] for name in names]
