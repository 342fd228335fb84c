"""`onceproof check` and `onceproof report`: a run folder again, offline."""

from __future__ import annotations

import sys
from pathlib import Path

from harness.record import UnreadableRun
from onceproof.errors import told
from onceproof.outcome import check_run
from reports.console import print_result


def check(folder: Path) -> int:
    """Judge a run folder again and write its report anew."""
    with told():
        outcome = check_run(_existing(folder))
        print_result(outcome.report, sys.stdout, folder)
        return outcome.exit_code


def report(folder: Path) -> int:
    """Write the reports of a run folder again and say where they lie."""
    with told():
        outcome = check_run(_existing(folder))
        print(outcome.html)
        print(outcome.json)
        return 0


def _existing(folder: Path) -> Path:
    if not folder.exists():
        raise UnreadableRun(f"{folder} does not exist; give a folder that `onceproof run` printed")
    return folder
