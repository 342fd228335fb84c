"""Whether the checkers found the mutations in copies of this history."""

from __future__ import annotations

from typing import Final

from onceproof.reports.completeness import missed
from onceproof.reports.sections.base import Section

SECTION: Final = Section(
    name="mutation-check",
    heading="Mutation self-check",
    place=60,
    context=lambda report: {"missed": missed(report)},
)
