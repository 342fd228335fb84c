"""Write and read `report.html` and `report.json` in a run folder.

Each file is written atomically, the JSON first, because the page can be rendered from it again.
"""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import ValidationError

from onceproof.checkers.regular import NotRegular, check_regular, read_regular
from onceproof.reports.html import render
from onceproof.reports.model import FORMAT, Report

HTML_FILE, JSON_FILE = "report.html", "report.json"
LARGEST = 256 * 2**20
"""Maximum size of a report in bytes, far above any of ours."""


class UnreadableReport(ValueError):
    """The folder has no report, or it is damaged; the message says what to do."""


def write(folder: Path, report: Report) -> tuple[Path, Path]:
    """Write the page and the data, and return their paths, page first."""
    html, data = folder / HTML_FILE, folder / JSON_FILE
    page = render(report)
    write_whole(data, report.model_dump_json(indent=1) + "\n")
    write_whole(html, page)
    return html, data


def load(folder: Path) -> Report:
    """Read the report of a run folder.

    Raises:
        UnreadableReport: the file is missing, not JSON, or not a report of this format.
    """
    return read(folder / JSON_FILE, within=folder)


def read(path: Path, *, within: Path | None = None) -> Report:
    """Read a report from a file of any name.

    Args:
        within: the folder that must contain the file; None: wherever its links lead.

    Raises:
        UnreadableReport: the file is missing, not JSON, or not a report of this format.
    """
    try:
        within = within or path.resolve().parent
        return Report.model_validate_json(read_regular(path, within, at_most=LARGEST))
    except NotRegular as error:
        raise UnreadableReport(str(error)) from None
    except (FileNotFoundError, NotADirectoryError):
        raise UnreadableReport(
            f"{path.parent} has no {path.name}. If it is a run folder, judge the run with "
            "`onceproof check`. Otherwise give a folder that `onceproof run` printed."
        ) from None
    except OSError as error:
        raise UnreadableReport(
            f"{path} cannot be read ({error.strerror}): check its permissions."
        ) from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the whole file"
        raise UnreadableReport(
            f"{path}: {where}: {first['msg']}. Expected {FORMAT}. The file is truncated, edited or "
            "from another version of onceproof; judge the run again to rewrite it."
        ) from None


def write_whole(target: Path, text: str) -> None:
    """Write a file atomically, also if several processes write it.

    A symbolic link is replaced; its target is not written.

    Raises:
        NotRegular: something else than a file is there.
        OSError: the file cannot be written.
    """
    if not target.is_symlink():
        check_regular(target, target.parent)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    part.unlink(missing_ok=True)
    try:
        with part.open("x", encoding="utf-8", newline="\n") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
