"""What a build server gets, as results come.

GitHub is known by its environment, as everybody's tools know it; JUnit's
file is written for who asks for it, anew after each run.
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
    """Takes cases, and tells of them in the ways that are wanted."""

    def __init__(
        self,
        junit: Path | None,
        *,
        environ: Mapping[str, str] = os.environ,
        out: TextIO | None = None,
    ) -> None:
        """Nothing is known yet.

        Args:
            junit: the file for JUnit's XML, if one is wanted.
            environ: where GitHub says that it is GitHub.
            out: where workflow commands go; None: standard output.
        """
        self.cases: list[Case] = []
        self._junit = junit
        self._github = environ.get("GITHUB_ACTIONS") == "true"
        self._summary = environ.get("GITHUB_STEP_SUMMARY")
        self._out = out or sys.stdout

    @property
    def listens(self) -> bool:
        """Whether anybody wants to know."""
        return bool(self._junit or self._github or self._summary)

    def add(self, cases: Iterable[Case]) -> None:
        """More is known.

        Raises:
            OSError: JUnit's file cannot be written.
        """
        self.know([*self.cases, *cases])

    def know(self, cases: Iterable[Case]) -> None:
        """All that is known now.

        Raises:
            OSError: JUnit's file cannot be written.
        """
        self.cases = list(cases)
        if self._junit is not None:
            write_junit(self._junit, self.cases)

    def conclude(self) -> None:
        """Nothing more comes."""
        if self._github:
            for line in annotated(self.cases):
                print(line, file=self._out, flush=True)
        if self._summary:
            # Other steps' tools append, too.
            with Path(self._summary).open("a", encoding="utf-8") as file:
                file.write(summary(self.cases) + "\n")
