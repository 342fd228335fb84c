"""What a section of a report is, and what it gets to read."""

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
    """What a report is made from.

    Attributes:
        record: what `run.json` says.
        history: tables by name; each is read when first asked for, and kept for all sections.
        judgement: what the checkers say.
        clock: makes seconds since the start of the run from times in tables.
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
        heading: its heading on the page.
        link: its name in the page's navigation, if shorter than the heading.
        place: sections stand in this order.
        data: what it adds to `report.json`, under `extensions` and its name: anything that JSON
            can hold. None: its template makes do with the report.
        context: names that its template uses beside `report`, `data` and `ui`.
    """

    name: str
    heading: str
    place: int
    link: str = ""
    data: Callable[[RunData], Any] | None = None
    context: Callable[[Report], Mapping[str, object]] = _nothing
