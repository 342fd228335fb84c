"""`report.html` and `report.json` in the run's folder.

Each file is there whole or not at all, and the JSON comes first, because
the page can be made from it again.
"""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import ValidationError

from onceproof.checkers.regular import NotRegular, check_regular, read_regular
from onceproof.reports.html import render
from onceproof.reports.model import FORMAT, Report

HTML_FILE, JSON_FILE = "report.html", "report.json"
_LARGEST = 256 * 2**20
"""Bytes of a report; ours end far below one million."""


class UnreadableReport(ValueError):
    """There is no report in the folder, or it is damaged; the text says what to do."""


def write(folder: Path, report: Report) -> tuple[Path, Path]:
    """Write the page and the data; returns the paths of both, the page first."""
    html, data = folder / HTML_FILE, folder / JSON_FILE
    page = render(report)
    write_whole(data, report.model_dump_json(indent=1) + "\n")
    write_whole(html, page)
    return html, data


def load(folder: Path) -> Report:
    """Read the report of a run folder.

    Raises:
        UnreadableReport: no such file, not JSON, or not a report of this format.
    """
    return read(folder / JSON_FILE, within=folder)


def read(path: Path, *, within: Path | None = None) -> Report:
    """Read a report, whatever its file is called.

    Args:
        path: the file.
        within: the folder that it must lie in, whatever is linked; None: wherever it leads to.

    Raises:
        UnreadableReport: no such file, not JSON, or not a report of this format.
    """
    try:
        within = within or path.resolve().parent
        return Report.model_validate_json(read_regular(path, within, at_most=_LARGEST))
    except NotRegular as error:
        raise UnreadableReport(str(error)) from None
    except (FileNotFoundError, NotADirectoryError):
        raise UnreadableReport(
            f"{path.parent} holds no {path.name}. If it is a run folder, the run was not judged "
            "yet: judge it again from its history; else give a folder that `onceproof run` printed."
        ) from None
    except OSError as error:
        raise UnreadableReport(
            f"{path} cannot be read ({error.strerror}); see to its permissions."
        ) from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the whole file"
        raise UnreadableReport(
            f"{path}: {where}: {first['msg']}. Expected was {FORMAT}: it is cut short, edited or "
            "of another version of onceproof; judge the run again to write it anew."
        ) from None


def write_whole(target: Path, text: str) -> None:
    """Write a file so that it is there whole or not at all, whoever else writes it.

    A link is replaced, and where it leads to nothing is written.

    Raises:
        NotRegular: something else than a file is there.
        OSError: it cannot be written.
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
