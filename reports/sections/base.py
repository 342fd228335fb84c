"""The interface of a report section, and the data that it can read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from onceproof.checkers.model import Judgement
from onceproof.harness.history.run_record import RunRecord
from onceproof.reports.assembly.tables import Clock, History
from onceproof.reports.model import Report


@dataclass(frozen=True, kw_only=True)
class RunData:
    """The data that a report is built from.

    Attributes:
        record: the content of `run.json`.
        history: tables by name; each is read on first access, and cached for all sections.
        clock: converts times in tables to seconds since the start of the run.
    """

    record: RunRecord
    history: History
    judgement: Judgement
    clock: Clock


def _nothing(report: Report) -> Mapping[str, object]:
    return {}


@dataclass(frozen=True, kw_only=True)
class Section:
    """A section of the report.

    Attributes:
        name: unique; lower-case letters and hyphens.
        link: its name in the page's navigation, if shorter than the heading.
        place: sections are sorted by it.
        data: returns what it adds to `report.json` under `extensions` and its name: anything that
            JSON can represent; None leaves the section out. No function if its template needs
            nothing but the report.
        context: returns names for its template, besides `report`, `data` and `ui`.
    """

    name: str
    heading: str
    place: int
    link: str = ""
    data: Callable[[RunData], Any] | None = None
    context: Callable[[Report], Mapping[str, object]] = _nothing
