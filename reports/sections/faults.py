"""Each fault with the evidence that it took effect, and the hazards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from onceproof.reports.model import Report
from onceproof.reports.sections.base import Section


def _context(report: Report) -> Mapping[str, object]:
    return {
        "fault_number": {fault.fault: i for i, fault in enumerate(report.faults, 1)},
        "steps": {step.fault: step for step in report.run.schedule},
    }


SECTION: Final = Section(name="faults", heading="Faults and hazards", place=50, context=_context)
