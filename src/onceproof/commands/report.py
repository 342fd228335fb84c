"""`onceproof report`: rewrite the report of one run, or print an index of many runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from onceproof.harness.history.run_record import RUN_FILE

USAGE: Final = 2
TROUBLE: Final = 3


def report(folders: Sequence[Path], *, html: Path | None) -> int:
    """Rewrite the reports of a single run folder; for several, or with `html`, write an index."""
    if html is None and len(folders) == 1 and _is_one_run(folders[0]):
        from onceproof.commands import check

        return check.report(folders[0])
    return _index(folders, html)


def _is_one_run(folder: Path) -> bool:
    """Whether it is a run folder, or does not exist, so that `check` reports the error."""
    return (folder / RUN_FILE).exists() or not folder.is_dir()


def _index(folders: Sequence[Path], html: Path | None) -> int:
    from onceproof.reports.runs.read import NoRuns, read_runs

    try:
        found = read_runs(folders)
    except NoRuns as error:
        print(f"onceproof: {error}", file=sys.stderr)
        return USAGE
    if html is not None:
        from onceproof.reports.runs.page import index_page
        from onceproof.reports.write import write_whole

        try:
            write_whole(html, index_page(found, html.parent))
        except OSError as error:
            print(f"onceproof: {error.strerror or error} ({error.filename}).", file=sys.stderr)
            return TROUBLE
        print(html)
        return 0
    from onceproof.reports.runs.terminal import print_index

    print_index(found, sys.stdout)
    return 0
