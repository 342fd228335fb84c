"""What each claim promises, and what was not tested."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from onceproof.reports.model import FinePrint, Report
from onceproof.reports.sections.base import Section


def _context(report: Report) -> Mapping[str, object]:
    """Return each distinct fine print once, with the names of its claims."""
    named: dict[str, tuple[FinePrint, list[str]]] = {}
    for claim in report.claims:
        same = named.setdefault(claim.fine_print.model_dump_json(), (claim.fine_print, []))
        same[1].append(claim.name)
    return {"fine_prints": tuple(named.values())}


SECTION: Final = Section(
    name="fine-print", heading="The fine print", link="Fine print", place=20, context=_context
)
