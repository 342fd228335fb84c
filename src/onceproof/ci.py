"""Report results to a build server as they arrive.

GitHub Actions is detected by its environment variables. The JUnit file is written on request, and
rewritten after each run.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TextIO

from onceproof.reports.ci.case import Case
from onceproof.reports.ci.github import annotated, summary
from onceproof.reports.ci.junit import write_junit


class BuildServer:
    """Collect test cases; write a JUnit file, and annotations and a summary for GitHub."""

    def __init__(
        self,
        junit: Path | None,
        *,
        environ: Mapping[str, str] = os.environ,
        out: TextIO | None = None,
    ) -> None:
        """Write JUnit XML to `junit`, if given, and workflow commands to `out` (None: stdout)."""
        self.cases: list[Case] = []
        self._junit = junit
        self._github = environ.get("GITHUB_ACTIONS") == "true"
        self._summary = environ.get("GITHUB_STEP_SUMMARY")
        self._out = out or sys.stdout

    @property
    def listens(self) -> bool:
        """Whether any of these outputs is wanted."""
        return bool(self._junit or self._github or self._summary)

    def add(self, cases: Iterable[Case]) -> None:
        """Add cases; raise `OSError` if the JUnit file cannot be written."""
        self.know([*self.cases, *cases])

    def know(self, cases: Iterable[Case]) -> None:
        """Replace all cases; raise `OSError` if the JUnit file cannot be written."""
        self.cases = list(cases)
        if self._junit is not None:
            write_junit(self._junit, self.cases)

    def conclude(self) -> None:
        """Write GitHub's annotations and summary."""
        if self._github:
            for line in annotated(self.cases):
                print(line, file=self._out, flush=True)
        if self._summary:
            # Append: tools of the same step may have written to it.
            with Path(self._summary).open("a", encoding="utf-8") as file:
                file.write(summary(self.cases) + "\n")
