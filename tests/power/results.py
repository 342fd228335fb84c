"""Results that are kept: one line of JSON each, so that a measurement goes on where it ended."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tests.power.trial import Result, Trial


class Results:
    """What trials have come to, in a file."""

    def __init__(self, file: Path) -> None:
        """`file` may be there from before; a line that was cut short is left out."""
        self._file = file
        self._known: dict[tuple[str, ...], Result] = {}
        for line in file.read_text(encoding="utf-8").splitlines() if file.is_file() else ():
            if line.endswith("}"):
                found = Result.from_json(line)
                self._known[found.key] = found

    def of(self, trial: Trial) -> Result | None:
        """What it came to by this very code; None if it was not made."""
        return self._known.get(trial.key)

    def add(self, found: Result) -> None:
        """Keep one more."""
        self._known[found.key] = found
        with self._file.open("a", encoding="utf-8") as lines:
            lines.write(found.as_json() + "\n")

    def told(self, trials: Iterable[Trial]) -> list[tuple[Trial, Result]]:
        """Those of these trials that were made."""
        return [(trial, found) for trial in trials if (found := self.of(trial)) is not None]
