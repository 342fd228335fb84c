"""Load what is compared: a run folder, its report, or a judgement file.

The format is read from the content, not from the file's name.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from onceproof.checkers.claims_json import BadClaim
from onceproof.checkers.regular import NotRegular, open_regular
from onceproof.reports.diff.judgement_file import JudgementFile
from onceproof.reports.diff.side import Side
from onceproof.reports.diff.sides import side_of_judgement, side_of_report
from onceproof.reports.model import FORMAT
from onceproof.reports.write import HTML_FILE, JSON_FILE, UnreadableReport, load, read

_JUDGEMENT = "onceproof-judgement"


def load_side(path: Path) -> Side:
    """Load one of the two runs.

    Raises:
        UnreadableReport: the path is none of the three, or damaged; the message says what to do.
    """
    if path.is_dir():
        page = path / HTML_FILE
        return side_of_report(load(path), str(page) if page.is_file() else None)
    if not path.exists():
        raise UnreadableReport(
            f"{path} does not exist. Give a run folder, its {JSON_FILE}, or the output of "
            "`onceproof check --json`."
        )
    if _is_judgement(path):
        return side_of_judgement(_judgement(path))
    page = path.with_name(HTML_FILE)
    return side_of_report(read(path), str(page) if page.is_file() else None)


def _is_judgement(path: Path) -> bool:
    """Look for the judgement format at the beginning of the file, where a report states its own."""
    try:
        with open_regular(path, path.resolve().parent) as file:
            return f'"{_JUDGEMENT}"'.encode() in file.read(200)
    except NotRegular as error:
        raise UnreadableReport(str(error)) from None
    except OSError as error:
        raise UnreadableReport(
            f"{path} cannot be read ({error.strerror}): check its permissions."
        ) from None


def _judgement(path: Path) -> JudgementFile:
    try:
        found = JudgementFile.model_validate_json(path.read_bytes())
        for claim in found.claims:
            claim.to_model()
        return found
    except OSError as error:
        raise UnreadableReport(
            f"{path} cannot be read ({error.strerror}): check its permissions."
        ) from None
    except BadClaim as error:
        raise UnreadableReport(f"{path}: {error}") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the whole file"
        raise UnreadableReport(
            f"{path}: {where}: {first['msg']}. Expected the output of `onceproof check --json`, or "
            f"{FORMAT}; judge the run again."
        ) from None
