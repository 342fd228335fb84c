"""What every pair came to when it was last tried, kept beside the page that tells it.

A whole measurement takes longer than one sitting. Each line here is the newest result of a pair's
program with a seed and a preset, with the code that it was made by.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import get_args

from tests.power.catalogue import Pair, Variant, pairs
from tests.power.page import Told
from tests.power.trial import Result, Trial

_SAME = 4
"""So many parts of a result's key say what was tried; the others, by what code."""


class Kept:
    """The newest results, in a file that is part of the repository."""

    def __init__(self, file: Path) -> None:
        """`file` may not be there yet."""
        lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else ()
        self._file = file
        self._known = {found.key[:_SAME]: found for found in map(Result.from_json, lines)}

    def add(self, results: Iterable[Result]) -> None:
        """Take these in place of what was kept of the same trials."""
        for found in results:
            self._known[found.key[:_SAME]] = replace(
                found, folder=None, seconds=round(found.seconds)
            )
        lines = [found.as_json() for _, found in sorted(self._known.items())]
        self._file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    def told(self, among: Iterable[Pair] | None = None) -> Told:
        """All of programs that are as they were when they were tried, by pair."""
        known = {pair.name: pair for pair in among or pairs()}
        found = []
        for (name, variant, seed, preset), result in sorted(self._known.items()):
            for which in get_args(Variant):
                pair = known.get(name)
                if pair and which == variant and pair.digest(which) == result.key[_SAME]:
                    trial = Trial(pair=pair, variant=which, seed=int(seed), preset=preset)
                    found.append((trial, result))
        return found
