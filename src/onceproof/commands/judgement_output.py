"""Output a judgement without a report, to standard output and to a file."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from onceproof.checkers import Judgement, exit_code

__all__ = ["output_judgement", "write_json"]


def output_judgement(
    judgement: Judgement, source: str, notes: Sequence[str], json: Path | None
) -> int:
    """Print a judgement, write it to `json` if given, and return the exit code."""
    from onceproof.reports.console_judgement import print_judgement

    print_judgement(judgement, sys.stdout, source=source, notes=notes)
    if json is not None:
        write_json(json, judgement, source, notes)
    return exit_code(judgement.claims)


def write_json(file: Path, judgement: Judgement, source: str, notes: Sequence[str] = ()) -> None:
    """Write a judgement as JSON, and print the path."""
    from onceproof.reports.judgement_json import judgement_json

    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(judgement_json(judgement, source=source, notes=notes), encoding="utf-8")
    print(f"judgement {file}", file=sys.stderr)
